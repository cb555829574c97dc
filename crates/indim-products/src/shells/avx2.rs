//! The shells of AVX2. Holds unsafe code.

super::define_shells! {
    Avx2, true, #[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
}
