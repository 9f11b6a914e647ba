//! How the program talks to the runner, and how it waits.

use std::io::Write;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::Outcome;

pub const PATIENCE: Duration = Duration::from_secs(60);

/// Prints a line at once: stdout is a pipe, which Rust's line buffer serves all the same.
pub fn line(text: String) {
    println!("{text}");
    let _ = std::io::stdout().flush();
}

pub fn pass(what: String) {
    line(format!("PASS {what}"));
}

/// Asks the runner for something done to the broker and waits until it is done.
pub async fn signal(what: &str) -> Outcome<()> {
    line(format!("@{what}"));
    let read = || {
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).map(|n| n > 0)
    };
    match tokio::task::spawn_blocking(read).await?? {
        true => Ok(()),
        false => Err(format!("the runner did not answer @{what}").into()),
    }
}

/// Waits until a condition holds; one that fails does not hold yet. `seen` says what was there when patience ended.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> Outcome<bool>, seen: impl Fn() -> String) -> Outcome<()> {
    let start = Instant::now();
    loop {
        let error = match holds().await {
            Ok(true) => return Ok(()),
            Ok(false) => String::new(),
            Err(e) => e.to_string(),
        };
        if start.elapsed() > PATIENCE {
            return Err(format!("{what}: not within {PATIENCE:?}: {} {error}", seen()).into());
        }
        sleep(Duration::from_millis(20)).await;
    }
}
