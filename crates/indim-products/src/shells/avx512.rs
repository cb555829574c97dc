//! The shells of AVX-512. Holds unsafe code.

super::define_shells! {
    Avx512, true, #[target_feature(
        enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
    )]
}
