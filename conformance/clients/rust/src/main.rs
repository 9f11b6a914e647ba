//! Walks krafka, a Kafka client in Rust, through the client matrix's story.

mod admin;
mod ledger;
mod member;
mod record;
mod runner;
mod stream;
mod walk;

pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() {
    let told = async { walk::Walk::open().await?.tell().await };
    let code = match told.await {
        Ok(()) => 0,
        Err(e) => {
            runner::line(format!("FAIL {e}"));
            1
        }
    };
    // A member's task must not hold a failed walk.
    std::process::exit(code);
}
