//! Addresses of pages that run the examples of documents: lines of rules, expressions, and commands without
//! files.

use super::address::Fields;

/// The inputs of the examples in `docs/expressions.md`, with elements.
const INPUTS: [(&str, &str); 6] = [
    ("x", "f32([[1, 2, 3], [4, 5, 6]])"),
    ("v", "f32([0.5, 1, 2])"),
    ("w", "f32([10, 20])"),
    ("i", "i32([[1, -2, 3], [-4, 5, -6]])"),
    ("u", "u8([0, 1, 2])"),
    ("c", "[true, false, true]"),
];

const NAMES: [&str; 3] = ["x", "v", "w"];

/// The operations that a line of rules may name.
const OPERATIONS: [&str; 5] = ["add", "select", "clamp", "broadcast", "broadcast_in_dim"];

/// The address that draws a line such as `xla add [2,3] [3] dims=[1]`.
pub(crate) fn of_rule(question: &str) -> Option<String> {
    let mut words = question.split_whitespace();
    let rule = words.next()?;
    let words: Vec<&str> = words.collect();
    let operation = words.iter().find(|word| OPERATIONS.contains(word));
    let rule = match (rule, operation) {
        ("xla", Some(&"broadcast")) => "xla-broadcast",
        // Rules towards a target, for systems that have no other name for them.
        ("xla", Some(&"broadcast_in_dim")) => "xla-broadcast-in-dim",
        ("stablehlo", Some(&"broadcast_in_dim")) => "stablehlo-broadcast-in-dim",
        ("pdpd", Some(&"broadcast")) => "pdpd-broadcast",
        // With three operands the form for `stablehlo` states `clamp`, whose last operand may be a scalar. It
        // cannot state `select`.
        ("stablehlo", Some(&"select")) => return None,
        (rule, _) => rule,
    };
    let mut fields = Fields::default();
    fields.add("rule", rule);
    let axis_names = words.iter().find_map(|word| word.strip_prefix("names="));
    let shapes: Vec<&str> = words.iter().copied().filter(|word| word.starts_with('[')).collect();
    let shapes: Vec<String> = match axis_names {
        Some(names) => with_axis_names(&shapes, names)?,
        None => shapes.into_iter().map(str::to_owned).collect(),
    };
    let mut names = NAMES.iter();
    for shape in shapes {
        fields.add("o", &format!("{}:{shape}", names.next()?));
    }
    for word in words {
        match word.split_once('=') {
            Some(("names", _)) | None => {}
            Some(("dims", list)) => fields.add("dims", list.trim_matches(['[', ']'])),
            Some((attribute, value)) => fields.add(attribute, value),
        }
    }
    Some(fields.address_of("index.html"))
}

/// Shapes with named axes, `[t: 2, y: 3]`, from `[2,3]` and `[["t","y"]]`. `None` if an axis lacks a name:
/// such a shape has no text.
fn with_axis_names(shapes: &[&str], names: &str) -> Option<Vec<String>> {
    // The lists hold plain names only, so a comma or a bracket is never a part of one.
    let lists = names.strip_prefix("[[")?.strip_suffix("]]")?.split("],[");
    let mut lists: Vec<Vec<&str>> = lists.map(elements).collect();
    // An operand without a list is a scalar.
    lists.resize(shapes.len().max(lists.len()), Vec::new());
    let shape = |(shape, names): (&&str, &Vec<&str>)| {
        let sizes = elements(shape.trim_matches(['[', ']']));
        let names: Vec<&str> = names.iter().map(|name| name.trim_matches('"')).collect();
        let is_whole = sizes.len() == names.len() && names.iter().all(|name| !name.is_empty());
        let axes = names.iter().zip(sizes).map(|(name, size)| format!("{name}: {size}"));
        is_whole.then(|| format!("[{}]", axes.collect::<Vec<_>>().join(", ")))
    };
    shapes.iter().zip(&lists).map(shape).collect()
}

/// The elements of a list without its brackets.
fn elements(list: &str) -> Vec<&str> {
    list.split(',').filter(|element| !element.is_empty()).collect()
}

/// The address that explains an expression over the names of the examples.
pub(crate) fn of_expression(text: &str, rule: Option<&str>) -> String {
    let is_named = |name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        text.split(|c| !is_part(c)).any(|word| word == name)
    };
    let inputs = INPUTS.iter().filter(|(name, _)| is_named(name));
    address_of(text, rule, inputs.map(|&(name, value)| (name, value.to_owned())))
}

fn address_of<'a>(
    text: &str,
    rule: Option<&str>,
    inputs: impl Iterator<Item = (&'a str, String)>,
) -> String {
    let mut fields = Fields::default();
    fields.add("e", text);
    if let Some(rule) = rule {
        fields.add("rule", rule);
    }
    for (name, value) in inputs {
        fields.add("i", &format!("{name}:{value}"));
    }
    fields.address_of("expressions.html")
}

/// The address that runs the command of a line such as `$ indim eval 'x / 3' x='f32([1, 2])'`, if it needs
/// neither files nor pipes.
pub(crate) fn of_command(line: &str) -> Option<String> {
    let words = words(line.strip_prefix("$ indim ")?)?;
    let (command, rest) = words.split_first()?;
    if !matches!(command.as_str(), "eval" | "explain") {
        return None;
    }
    let mut rule = None;
    let (mut plain, mut rest) = (Vec::new(), rest.iter());
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--rule" => rule = rest.next(),
            option if option.starts_with("--") || option == "-o" || option == "|" => return None,
            _ => plain.push(word),
        }
    }
    let (text, bindings) = plain.split_first()?;
    let inputs = bindings.iter().map(|word| binding(command, word)).collect::<Option<Vec<_>>>()?;
    Some(address_of(text, rule.map(String::as_str), inputs.into_iter()))
}

/// A `NAME=SOURCE` that is not a file. `explain` takes a type, `eval` a list of elements.
fn binding<'a>(command: &str, word: &'a str) -> Option<(&'a str, String)> {
    let (name, value) = word.split_once('=')?;
    if value.contains(".np") || value == "-" || value.contains('/') {
        return None;
    }
    let is_type = |dtype: &str| !dtype.is_empty() && dtype.chars().all(char::is_alphanumeric);
    let value = match value.split_once('[') {
        Some((dtype, list)) if command == "eval" && is_type(dtype) => format!("{dtype}([{list})"),
        _ => value.to_owned(),
    };
    Some((name, value))
}

/// The words of a line up to a comment, with single quotes removed; `None` if a quote is open.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            '#' if !is_quoted && word.is_empty() => break,
            c if c.is_whitespace() && !is_quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    (!is_quoted).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let address = of_rule("xla add [2,3] [3] dims=[1]").unwrap();
        assert_eq!(address, "index.html#rule=xla&o=x%3A%5B2%2C3%5D&o=v%3A%5B3%5D&dims=1");
        let onto = of_rule("stablehlo broadcast_in_dim [3] target=[2,3] dims=[1]").unwrap();
        assert!(onto.starts_with("index.html#rule=stablehlo-broadcast-in-dim&o=x"), "{onto}");
        let named = of_rule(r#"named [2,3] [3] [] names=[["t","y"],["y"]]"#).unwrap();
        let operands = "o=x%3A%5Bt%3A+2%2C+y%3A+3%5D&o=v%3A%5By%3A+3%5D&o=w%3A%5B%5D";
        assert_eq!(named, format!("index.html#rule=named&{operands}"));
        assert_eq!(of_rule(r#"named [2,3] [3] names=[["t","y"],[""]]"#), None);
    }

    #[test]
    fn expressions_have_the_inputs_that_they_name() {
        let address = of_expression("x + v", None);
        assert!(address.starts_with("expressions.html#e=x+%2B+v&i=x%3Af32"), "{address}");
        assert_eq!(address.matches("&i=").count(), 2);
        assert_eq!(of_expression("exp(vx)", None).matches("&i=").count(), 0);
    }

    #[test]
    fn commands_without_files() {
        let address = of_command("$ indim eval 'x / 3' x='f32[1, 2]'   # a comment").unwrap();
        assert_eq!(address, "expressions.html#e=x+%2F+3&i=x%3Af32%28%5B1%2C+2%5D%29");
        for line in ["$ indim eval 'x' x=x.npy", "$ indim eval x x=- | cat", "$ indim ops", "[1 2]"]
        {
            assert_eq!(of_command(line), None, "{line}");
        }
    }
}
