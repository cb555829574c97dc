//! `eval!`, which `indim` re-exports with the feature `macros`.
#![forbid(unsafe_code)]

use indim_text::{Expression, ParseLimits};
use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Ident, LitStr, Token, parse_macro_input, parse_quote};

/// Evaluates an expression over variables of the same names: `eval!("(x - m) * s", x, m, s)?`.
///
/// The macro calls `indim::evaluate`, or `indim::evaluate_all` if the text has several results. It parses the
/// text at compile time: a syntax error, a name without an input and an input that the text does not use are
/// compile errors. `name = value` binds a name to any value. Arrays are borrowed; numbers adapt to the types
/// of arrays. Shapes are checked at run time.
#[proc_macro]
pub fn eval(input: TokenStream) -> TokenStream {
    let call = parse_macro_input!(input as Call);
    let checked = call.check().map(|results| call.expanded(results));
    checked.unwrap_or_else(Error::into_compile_error).into()
}

/// The arguments of the macro: `"(x - m) * s", x, m = mean, s`.
struct Call {
    text: LitStr,
    inputs: Punctuated<Input, Token![,]>,
}

/// An input: a variable, or `name = value`.
struct Input {
    name: Ident,
    value: Expr,
}

impl Parse for Call {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse().map_err(|error| {
            let message = "the expression must be a string literal, which is parsed at compile time; \
                `indim::evaluate` takes a text made at run time";
            Error::new(error.span(), message)
        })?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(Call { text, inputs: Punctuated::parse_terminated(input)? })
    }
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let begins = input.fork();
        let name = begins.parse::<Ident>();
        let is_bare = begins.is_empty() || begins.peek(Token![,]);
        let is_named = begins.peek(Token![=]) && !begins.peek(Token![==]);
        let Some(name) = name.ok().filter(|_| is_bare || is_named) else {
            let message = "a value that is not a variable needs a name from the text: \
                write `name = ` before it";
            return Err(Error::new_spanned(input.parse::<Expr>()?, message));
        };
        input.advance_to(&begins);
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => input.parse()?,
            None => parse_quote!(#name),
        };
        Ok(Input { name, value })
    }
}

/// The number of results of a text.
enum Results {
    One,
    Several,
}

impl Call {
    /// Parses the text and checks the names of the inputs.
    ///
    /// # Errors
    /// An error of the text or of a name, at its span in the source.
    fn check(&self) -> syn::Result<Results> {
        let text = self.text.value();
        let expression = Expression::parse(&text, &ParseLimits::default())
            .map_err(|error| Error::new(self.text.span(), error.diagnostic(&text)))?;
        for (index, Input { name, .. }) in self.inputs.iter().enumerate() {
            let name_text = name.unraw().to_string();
            if self.inputs.iter().take(index).any(|earlier| earlier.name == *name) {
                return Err(Error::new(name.span(), format!("two inputs have the name `{name}`")));
            }
            if !expression.mentions(&name_text) && !expression.assigns(&name_text) {
                let message = format!("the expression does not use the input `{name}`");
                return Err(Error::new(name.span(), message));
            }
        }
        let is_given = |name: &str| self.inputs.iter().any(|input| input.name.unraw() == name);
        if let Some(name) = expression.names().into_iter().find(|name| !is_given(name)) {
            let message = format!(
                "the name `{name}` has no input: write `{name}` or `{name} = ...` after the text"
            );
            return Err(Error::new(self.text.span(), message));
        }
        Ok(match expression.check_single_result() {
            Ok(()) => Results::One,
            Err(_) => Results::Several,
        })
    }

    /// The expansion is a `match`, so that temporaries of the inputs live until the call returns.
    fn expanded(&self, results: Results) -> Tokens {
        let text = &self.text;
        let inputs = self.inputs.iter().map(|Input { name, value }| {
            let name = name.unraw().to_string();
            quote!((#name, ::indim::AsInput::as_input(&(#value))))
        });
        let count = self.inputs.len();
        let function = match results {
            Results::One => quote!(::indim::evaluate),
            Results::Several => quote!(::indim::evaluate_all),
        };
        quote! {
            match [#(#inputs),*] {
                inputs => {
                    let inputs: [(&'static str, ::indim::Input<'_>); #count] = inputs;
                    #function(#text, inputs)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler's error for a call, if it refuses the call.
    fn refusal(call: &str) -> Option<String> {
        let checked = syn::parse_str::<Call>(call).and_then(|call| call.check());
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn a_text_that_is_made_at_run_time_is_refused_with_what_takes_it() {
        for call in ["text, x", "x", ""] {
            let refusal = refusal(call).unwrap();
            assert!(
                refusal.contains("`indim::evaluate` takes a text made at run time"),
                "{refusal}"
            );
        }
    }

    #[test]
    fn variables_and_named_values_are_taken() {
        for inputs in ["x", "x,", "x = y.x", "x = &y[0]", "x = x == x", "r#x", "x = f(1, 2)"] {
            assert_eq!(refusal(&format!("\"x * 2\", {inputs}")), None, "{inputs}");
        }
    }

    #[test]
    fn a_value_without_a_name_is_told_how_to_have_one() {
        for input in ["y.x", "&x", "x[0]", "x.clone()", "f(x)", "2.5", "self.x", "x == y", "*x"] {
            let refusal = refusal(&format!("\"x * 2\", {input}")).unwrap();
            assert!(refusal.contains("write `name = ` before it"), "{input}: {refusal}");
        }
    }

    #[test]
    fn names_are_those_of_the_text() {
        for (call, expected) in [
            ("\"x * y\", x", "the name `y` has no input: write `y` or `y = ...` after the text"),
            ("\"x * 2\", x, y", "the expression does not use the input `y`"),
            ("\"x * 2\", x, x = 3", "two inputs have the name `x`"),
            ("\"x *\", x", "error["),
            ("x, \"x * 2\"", "the expression must be a string literal"),
        ] {
            let refusal = refusal(call).unwrap();
            assert!(refusal.contains(expected), "{call}: {refusal}");
        }
    }
}
