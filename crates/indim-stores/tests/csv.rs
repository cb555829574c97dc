//! Columns of CSV tables.

use indim_arrays::Array;
use indim_ops::DType;
use indim_shape::Diagnostic;
use indim_stores::csv::CsvColumn;
use indim_stores::{ArrayRegion, Source};

/// The column of a table, and the remarks.
fn column(table: &str, column: Option<&str>) -> Result<(Array, Vec<String>), Diagnostic> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, table).unwrap();
    let column = CsvColumn::open(&path, column, 1000).map_err(|error| error.diagnostic())?;
    let array = column.read(&ArrayRegion::whole(&column.array_type().shape)).unwrap();
    Ok((array, column.remarks().to_vec()))
}

fn code(table: &str, name: Option<&str>) -> &'static str {
    column(table, name).unwrap_err().code.as_str()
}

#[test]
fn columns_go_by_their_names_and_positions() {
    let table = "name,height,2\n\"Lee, A\",1.5,7\nBo,2,8\n";
    let numbers = |name| column(table, Some(name)).unwrap().0;
    assert_eq!(numbers("height").elements(), Ok(&[1.5, 2.0][..]));
    assert_eq!(numbers("1").elements(), Ok(&[1.5, 2.0][..]));
    // A name takes precedence over a position.
    assert_eq!(numbers("2").elements(), Ok(&[7i64, 8][..]));
    let error = column(table, Some("weight")).unwrap_err().to_string();
    assert!(
        error.contains("[no-column]") && error.contains("the columns are name, height, 2"),
        "{error}"
    );
    assert_eq!(code(table, None), "no-column");
    assert_eq!(code(table, Some("3")), "no-column");
    assert_eq!(code("a,a\n1,2\n", Some("a")), "no-column");
    assert_eq!(column("a\n1\n2\n", None).unwrap().0.elements(), Ok(&[1i64, 2][..]));
}

#[test]
fn a_first_line_of_numbers_is_data() {
    let numbers = column("1,2\n3,4\n", Some("1")).unwrap().0;
    assert_eq!(numbers.elements(), Ok(&[2i64, 4][..]));
    let error = column("1,2\n3,4\n", Some("x")).unwrap_err().to_string();
    assert!(error.contains("columns go by their positions, 0 to 1"), "{error}");
}

#[test]
fn fields_make_the_narrowest_type_that_has_them_all() {
    let dtype = |fields: &str| column(&format!("x\n{fields}"), None).unwrap().0.array_type().dtype;
    assert_eq!(dtype("1\n-2\n+3\n"), DType::I64);
    assert_eq!(dtype("true\nFalse\nTRUE\n"), DType::Bool);
    assert_eq!(dtype("1\n2.5\n"), DType::F64);
    assert_eq!(dtype("1\n1e3\n"), DType::F64);
    assert_eq!(dtype("nan\ninf\n"), DType::F64);
    assert_eq!(dtype(""), DType::F64);
    assert_eq!(dtype("9223372036854775807\n"), DType::I64);
    // An integer that no type holds exactly is an error, not rounded.
    assert_eq!(code("x\n9223372036854775808\n", None), "not-a-number");
    assert_eq!(code("x\ntrue\n1\n", None), "not-a-number");
}

#[test]
fn empty_fields_are_nan_and_told() {
    let (array, remarks) = column("x,y\n1,2\n,3\n4,5\n,6\n", Some("x")).unwrap();
    let numbers: &[f64] = array.elements().unwrap();
    assert!(numbers[0] == 1.0 && numbers[1].is_nan() && numbers[2] == 4.0 && numbers[3].is_nan());
    assert_eq!(remarks, ["2 empty fields are NaN, the first in line 3"]);
}

#[test]
fn what_is_no_number_has_its_line() {
    let error = column("x;y\n1;2\n\"a\nb\";3\n1,5;4\n", Some("x")).unwrap_err().to_string();
    assert!(error.contains("line 3: `a\\nb` in column `x` is not a number"), "{error}");
    let error = column("x;y\n1;2\n1,5;4\n", Some("x")).unwrap_err().to_string();
    assert!(error.contains("line 3: `1,5`") && error.contains("decimal point"), "{error}");
    let error = column("x;y\nLee, A;2\n", Some("x")).unwrap_err().to_string();
    assert!(error.contains("line 2: `Lee, A`") && !error.contains("decimal point"), "{error}");
}

#[test]
fn what_is_beyond_f64_is_no_infinity() {
    for field in ["1e400", "-1e400", "1e309", &"9".repeat(400), &format!("-{}.5", "9".repeat(400))]
    {
        for table in [format!("x\n1.5\n{field}\n"), format!("x\n\"\"\n{field}\n")] {
            let error = column(&table, None).unwrap_err();
            assert_eq!(error.code, "not-a-number", "{table:?}");
            assert!(error.to_string().contains(&format!("line 3: `{}", &field[..5])), "{error}");
        }
    }
    let error = column("x\n1.5\n-1e400\n", None).unwrap_err().to_string();
    assert!(error.contains("`-1e400` in column `x` is beyond f64"), "{error}");
    assert!(error.contains("write inf or -inf"), "{error}");
    let (array, _) = column("x\n1.7976931348623157e308\n-inf\nInfinity\n1e-400\n", None).unwrap();
    let expected = [f64::MAX, f64::NEG_INFINITY, f64::INFINITY, 0.0];
    assert_eq!(array.elements(), Ok(&expected[..]));
}

#[test]
fn delimiters_marks_and_line_ends_are_seen() {
    for table in [
        "\u{feff}x;y\r\n1;2\r\n",
        "x\ty\n1\t2",
        "x|y\n1|2\n",
        "x,y\n1,2\n\n",
        "\"x\",\"y;z;w\"\n1,2\n",
    ] {
        assert_eq!(column(table, Some("x")).unwrap().0.elements(), Ok(&[1i64][..]), "{table:?}");
    }
}

/// Line numbers of errors, for every line ending, with empty lines and quoted line breaks.
#[test]
fn lines_are_counted_as_editors_count_them() {
    for (end, table) in ["\n", "\r\n", "\r"].into_iter().flat_map(|end| {
        [
            "x\n1\n\n\n2\nzz\n",
            "x\n\"1\"\n2\n3\n4\nzz\n",
            "\u{feff}x\n1\n1\n1\n1\nzz",
            "0\n1\n2\n3\n4\nzz\n",
        ]
        .map(|table| (end, table.replace('\n', end)))
    }) {
        let error = column(&table, None).unwrap_err().to_string();
        assert!(error.contains("line 6: `zz`"), "{end:?} {table:?} {error}");
        let (_, remarks) = column(&table.replace("zz", "\"\""), None).unwrap();
        assert!(remarks[0].ends_with("the first in line 6"), "{table:?} {remarks:?}");
    }
    let error = column("x,y\n\"a\nb\",1\n\"c\nd\",zz\n", Some("y")).unwrap_err().to_string();
    assert!(error.contains("line 4: `zz`"), "{error}");
    let error = column("x\ntrue\n1\n", None).unwrap_err().to_string();
    assert!(error.contains("line 3: `1` in column `x` is neither true nor false"), "{error}");
    assert!(!error.contains("i64"), "{error}");
}

#[test]
fn damaged_and_large_tables_are_refused() {
    assert_eq!(code("", None), "bad-csv");
    assert_eq!(code("x,y\n1\n", Some("x")), "bad-csv");
    assert_eq!(code(&format!("x\n{}", "1\n".repeat(200)), None), "memory-limit");
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(CsvColumn::open(folder.path(), None, 10).unwrap_err().code(), "not-a-file");
    let path = folder.path().join("x.csv");
    std::fs::write(&path, b"x\n\xff\xfe\n").unwrap();
    assert_eq!(CsvColumn::open(&path, None, 10).unwrap_err().code(), "bad-csv");
    // An unclosed quote in a sparse file of a gigabyte.
    std::fs::write(&path, "x\n1\n\"2\n").unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
    let error = CsvColumn::open(&path, None, 1000).unwrap_err();
    assert!(error.to_string().contains("a record of more than 67108864 bytes"), "{error}");
}
