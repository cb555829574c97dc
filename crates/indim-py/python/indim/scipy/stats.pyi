from types import SimpleNamespace

bernoulli: SimpleNamespace
beta: SimpleNamespace
binom: SimpleNamespace
cauchy: SimpleNamespace
chi2: SimpleNamespace
dirichlet: SimpleNamespace
expon: SimpleNamespace
gamma: SimpleNamespace
laplace: SimpleNamespace
logistic: SimpleNamespace
norm: SimpleNamespace
poisson: SimpleNamespace
t: SimpleNamespace
uniform: SimpleNamespace
