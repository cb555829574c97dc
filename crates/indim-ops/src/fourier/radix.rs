//! The division of the length of a Fourier transform into radices, and the length of a convolution.

use alloc::vec::Vec;

/// Largest length of a transform: below 2^31 the square of an index fits 64 bits, and tables of roots of
/// unity stay below 32 MiB.
pub const MAX_FOURIER_LENGTH: usize = (1 << 31) - 1;

/// Largest radix that is a product of several primes. Radices of 8, 16 and 32 take about equal time in
/// caches; beyond them, fewer passes over memory are faster. Matrices of 32 still sum one chain of 64
/// products.
const MAX_COMPOSITE_RADIX: usize = 32;

/// Largest prime radix. Above it, a convolution of a smooth length is faster than a matrix.
const MAX_PRIME_RADIX: usize = 61;

/// The radices of a transform, as equal as possible: their product is `length`, at least 1. `None` if a prime
/// factor of the length is larger than 61.
///
/// ```
/// use indim_ops::fourier::radix::radices;
///
/// assert_eq!(radices(1), Some(vec![1]));
/// assert_eq!(radices(1000), Some(vec![10, 10, 10]));
/// assert_eq!(radices(2 * 101), None);
/// ```
pub fn radices(length: usize) -> Option<Vec<usize>> {
    let mut primes = Vec::new();
    let mut rest = length;
    for prime in (2..=MAX_PRIME_RADIX).rev() {
        // Composite numbers too: their prime factors are smaller, so skip them.
        let is_prime = (2..prime).all(|divisor| prime % divisor != 0);
        while is_prime && rest.is_multiple_of(prime) {
            primes.push(prime);
            rest /= prime;
        }
    }
    // The fewest radices that suffice; each prime joins the smallest one.
    (1..=primes.len().max(1)).filter(|_| rest == 1).find_map(|count| {
        let mut radices = alloc::vec![1; count];
        for &prime in &primes {
            let smallest = radices.iter_mut().min()?;
            if *smallest > 1 && *smallest * prime > MAX_COMPOSITE_RADIX {
                return None;
            }
            *smallest *= prime;
        }
        Some(radices)
    })
}

/// The length of the circular convolution that computes a transform of a length with a large prime factor: at
/// least twice the length, less 1, with the prime factors 2, 3 and 5.
///
/// ```
/// use indim_ops::fourier::radix::convolution_length;
///
/// assert_eq!(convolution_length(101), 256);
/// assert_eq!(convolution_length(67), 160);
/// ```
pub fn convolution_length(length: usize) -> usize {
    let smallest = 2 * length - 1;
    let multiple = |factor: usize| factor * smallest.div_ceil(factor).next_power_of_two();
    multiple(1).min(multiple(3)).min(multiple(5))
}
