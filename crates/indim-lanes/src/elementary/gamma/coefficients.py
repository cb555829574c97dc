"""Prints the polynomial tables of this folder and of `../inverse_error_function.rs`; needs mpmath.

Each table holds polynomials for consecutive pieces of an argument, interpolated at Chebyshev nodes in 60
digits. The argument names the table: P, R, D, T, LZ, DZ, or C for the tails.
"""

from mpmath import *
mp.dps = 60
def cheb(function, low, high, degree, center):
    """coefficients in (x-center)"""
    middle, half = (mpf(low)+high)/2, (mpf(high)-low)/2
    nodes=[middle+half*cos(pi*(2*i+1)/(2*degree+2)) for i in range(degree+1)]
    # newton divided differences -> monomials in (x-center)
    vals=[function(n) for n in nodes]
    xs=[n-center for n in nodes]
    A=matrix([[(x/half)**p for p in range(degree+1)] for x in xs])
    return [c/half**p for p,c in enumerate(lu_solve(A,matrix(vals)))]
def err(co, f, low, high, center, n=101):
    cs=[mpf(float(c)) for c in co]; cs[0]=co[0]
    m=mpf(0)
    for i in range(n):
        x=mpf(low)+(mpf(high)-low)*i/(n-1)
        v=f(x); m=max(m,abs(sum(c*(x-center)**p for p,c in enumerate(cs))/v-1))
    return float(log(m,2)) if m else -999
euler_=+euler
def R(b):
    # lgamma(b)/((b-1)(b-2))
    if abs(b-1)<1e-20 : return euler_
    if abs(b-2)<1e-20 : return 1-euler_
    return loggamma(b)/((b-1)*(b-2))
y0=findroot(lambda x: digamma(x),1.4616321449683622)
def D(b):
    return digamma(b)/(b-y0) if abs(b-y0)>1e-25 else polygamma(1,y0)
def T(b): return polygamma(1,b)
def P(w):
    if w<mpf(10)**-40: return sqrt(pi)/2
    x=sqrt(-expm1(-w)); 
    return erfinv(x)/x


import sys
def rust(rows):
    out=[]
    for row in rows:
        out.append("    [")
        line="       "
        for v in row:
            t=" "+repr(float(v))+","
            if len(line)+len(t)>108: out.append(line); line="       "
            line+=t
        out.append(line); out.append("    ],")
    return "\n".join(out)
def emit(name,doc,cols):
    """cols: list of (list of mpf coefs) per piece; rows: low, c0, c1..."""
    n=len(cols[0])
    rows=[[c[i]-mpf(float(c[i])) for c in cols] for i in (0,1)]+[[c[k] for c in cols] for k in range(n)]
    table = f"Table<{len(cols)}, {n+2}> = table([\n{rust(rows)}\n]);"
    print(f"#[rustfmt::skip]\npub(super) const {name}: {table}\n")
def octaves(f,first,count,shift,degree,pieces):
    cols=[]
    for e in range(count):
        for m in range(8):
            lo=mpf(first)*2**e*(1+mpf(m)/8)-shift; hi=mpf(first)*2**e*(1+mpf(m+1)/8)-shift
            cols.append(cheb(f,lo,hi,degree,(lo+hi)/2))
            if len(cols)==pieces: return cols
    return cols
def pad(cols,n): return cols+[[mpf(0)]*len(cols[0]) for _ in range(n-len(cols))]
which=sys.argv[1]
def plain(name,co): print(name,", ".join(repr(float(c)) for c in co),"\n")
if which=="P":
    mp.dps=80
    emit("INVERSE_ERF","",pad(octaves(P,1,6,1,10,42),64))
if which=="R": emit("LGAMMA_FACTOR","",octaves(R,.5,4,0,10,32))
if which=="D": emit("DIGAMMA_FACTOR","",octaves(D,.5,4,0,10,32))
if which=="T": emit("TRIGAMMA","",octaves(T,.5,4,0,11,32))
if which=="LZ":
    mp.dps=80
    cols=[]; zs=[]
    for h in [32,33,34,35]+list(range(4,32)):
        n=(h+1)//2; side=-1 if h%2==0 else 1
        g=lambda e: 1/abs(gamma(-n+side*e))
        lo=mpf(10)**-40; hi=mpf(1)/2 if h!=5 else mpf('.39')
        for _ in range(280):
            m=(lo+hi)/2
            if g(m)<1: lo=m
            else: hi=m
        e=lo
        assert abs(g(e)-1)<mpf(10)**-50
        slope=diff(g,e)
        f=lambda d: (g(e+d)-1)/d if abs(d)>e*mpf(10)**-30 else slope
        rad=e/8*mpf('1.001')
        co=cheb(f,-rad,rad,9,0)
        er=err(co,f,-rad,rad,0,20)
        print("//",h,er,file=sys.stderr)
        cols.append(co); zs.append(e)
    emit("ZERO_SLOPE","",cols)
    print("ZEROS"); print(rust([[z for z in zs],[z-mpf(float(z)) for z in zs]]))
if which=="DZ":
    mp.dps=80
    cols=[];zs=[]
    for n in range(32):
        lo=mpf(-n)-1+mpf(10)**-20; hi=mpf(-n)-mpf(10)**-20
        for _ in range(280):
            m=(lo+hi)/2
            if digamma(m)<0: lo=m
            else: hi=m
        z=lo; slope=polygamma(1,z)
        f=lambda d: digamma(z+d)/d if abs(d)>mpf(10)**-35 else slope
        rad=mpf(1)/96*mpf('1.001')
        co=cheb(f,-rad,rad,10,0)
        print("//",n,err(co,f,-rad,rad,0,20),file=sys.stderr)
        cols.append(co);zs.append(z)
    emit("ZERO_SLOPE","",cols)
    print("ZEROS"); print(rust([[z for z in zs],[z-mpf(float(z)) for z in zs]]))
if which=="C":
    mp.dps=90
    e=mpf(10)**-8
    sl=lambda z:(loggamma(1/sqrt(z))-(1/sqrt(z)-mpf(1)/2)*(log(1/sqrt(z))-1)-(log(2*pi)-1)/2)/sqrt(z)
    sd=lambda z:(log(1/sqrt(z))-sqrt(z)/2-digamma(1/sqrt(z)))/z
    st=lambda z:(polygamma(1,1/sqrt(z))-sqrt(z)-z/2)/(z*sqrt(z))
    ss=lambda z:(sin(pi*sqrt(z))/sqrt(z)-pi+pi**3/6*z)/z**2
    cc=lambda z:(cos(pi*sqrt(z))-1+pi**2/2*z)/z**2
    plain("STIRLING",cheb(sl,e,mpf(1)/64,7,0))
    plain("DIGAMMA_TAIL",cheb(sd,e,mpf(1)/64,7,0))
    plain("TRIGAMMA_TAIL",cheb(st,e,mpf(1)/64,8,0))
    plain("SINE_TAIL",cheb(ss,e,mpf(1)/16,5,0))
    plain("COSINE_TAIL",cheb(cc,e,mpf(1)/16,5,0))
    def pr(n,v): print(n,repr(float(v)),repr(float(v-mpf(float(v)))))
    pr("pi",pi);pr("1/pi",1/pi);pr("-pi3/6",-pi**3/6);pr("-pi2/2",-pi**2/2)
    pr("C",(log(2*pi)-1)/2);pr("y0",y0);pr("pi2",pi**2)
    y1=findroot(lambda x: digamma(x),mpf('1.46163214496836234126265954232572132846819620400644'))
    pr("y0",y1)
