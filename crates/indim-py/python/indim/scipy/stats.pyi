from types import SimpleNamespace

bernoulli: SimpleNamespace
beta: SimpleNamespace
cauchy: SimpleNamespace
expon: SimpleNamespace
gamma: SimpleNamespace
laplace: SimpleNamespace
logistic: SimpleNamespace
norm: SimpleNamespace
poisson: SimpleNamespace
t: SimpleNamespace
uniform: SimpleNamespace
