//! What a browser sees.

use axum::http::{Method, StatusCode};

use crate::site::{Answer, HOSTILE, Site, TOKEN};

/// Asks for a page and holds it against what is true of every page.
async fn page(site: &Site, target: &str) -> Answer {
    let answer = site.get(target).await;
    assert_eq!(answer.status, StatusCode::OK, "{target}: {}", answer.body);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    let body = &answer.body;
    for forbidden in [
        " style=",
        " onclick=",
        " onload=",
        "javascript:",
        "<img",
        HOSTILE,
    ] {
        assert!(!body.contains(forbidden), "{target} holds {forbidden}");
    }
    // Scripts and styles are linked; what is written into a page is data.
    assert_eq!(
        body.matches("<script").count(),
        body.matches("<script src=\"/assets/").count()
            + body.matches("<script type=\"application/json\"").count()
    );
    assert!(!body.contains("<style"), "{target}");
    answer
}

#[tokio::test]
async fn every_page_is_text_whatever_servers_and_suites_say() {
    let site = Site::with_a_run().await;
    for target in [
        "/runs",
        "/runs/r1/trials",
        "/runs/r1/trials?notPassed=true&stage=",
    ] {
        page(&site, target).await;
    }
}

#[tokio::test]
async fn the_root_leads_to_the_runs() {
    let site = Site::with_a_run().await;
    let answer = site.get("/").await;
    assert_eq!(answer.header("location"), "/runs");
    let runs = page(&site, "/runs").await;
    assert!(runs.body.contains("href=\"/runs/r1\""), "{}", runs.body);
}

#[tokio::test]
async fn trials_are_paged_and_filtered_without_script() {
    let site = Site::with_a_run().await;
    let first = page(&site, "/runs/r1/trials?limit=2&case=orders").await;
    assert_eq!(first.body.matches("data-trial=").count(), 2);
    let next = "/runs/r1/trials?case=orders&amp;limit=2&amp;cursor=0.1";
    assert!(first.body.contains(next), "{}", first.body);
    let failed = page(&site, "/runs/r1/trials?stage=call&status=&category=&case=").await;
    assert_eq!(failed.body.matches("data-trial=").count(), 2);
    assert!(failed.body.contains("Tool call"), "{}", failed.body);
}

#[tokio::test]
async fn assets_never_change_under_their_address() {
    let site = Site::with_a_run().await;
    let runs = page(&site, "/runs").await;
    let mut addresses: Vec<&str> = runs.body.split('"').collect();
    addresses.retain(|part| part.starts_with("/assets/"));
    assert!(addresses.len() >= 2, "{addresses:?}");
    for address in addresses {
        let asset = site.get(address).await;
        assert_eq!(asset.status, StatusCode::OK);
        assert!(asset.header("cache-control").contains("immutable"));
        assert_eq!(asset.header("x-content-type-options"), "nosniff");
    }
    let other = site.get("/assets/0000000000000000/strandline.css").await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_problem_is_a_page_with_what_to_do() {
    let site = Site::with_a_run().await;
    for (target, status) in [
        ("/nothing", 404),
        ("/runs/nothing/trials", 404),
        ("/runs?limit=0", 400),
        ("/runs?unknown=1", 400),
        ("/runs/%3Cimg%20src=x%3E/trials", 404),
    ] {
        let answer = site.get(target).await;
        assert_eq!(answer.status.as_u16(), status, "{target}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert!(!answer.body.contains("<img"), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_page_is_not_sent_again_and_never_shows_the_token() {
    let site = Site::with_a_run().await;
    let runs = page(&site, "/runs").await;
    assert!(!runs.body.contains(TOKEN));
    let again = [("if-none-match", runs.header("etag"))];
    let answer = site.ask(Method::GET, "/runs", &again, "").await;
    assert_eq!(answer.status, StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn a_trial_leads_to_its_neighbours_and_its_run() {
    let site = Site::with_a_run().await;
    let trial = page(&site, "/trials/r1-t0001").await;
    for target in [
        "/trials/r1-t0000",
        "/trials/r1-t0002",
        "/runs/r1",
        "/trials/r1-t0001/frames",
    ] {
        let link = format!("href=\"{target}\"");
        assert!(trial.body.contains(&link), "{target}: {}", trial.body);
        page(&site, target).await;
    }
}

#[tokio::test]
async fn two_runs_are_chosen_and_compared() {
    let site = Site::with_a_run().await;
    let few = page(&site, "/compare").await;
    assert!(few.body.contains("two stored runs"), "{}", few.body);
    site.store_run("r2", 2).await;
    let form = page(&site, "/compare?compared=r2").await;
    assert!(
        form.body.contains("<option value=\"r2\" selected>"),
        "{}",
        form.body
    );
    let compared = page(&site, "/compare?base=r1&compared=r2").await;
    assert!(
        compared.body.contains("href=\"/runs/r1\""),
        "{}",
        compared.body
    );
    let same = site.get("/compare?base=r1&compared=r1").await;
    assert_eq!(same.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn every_link_of_the_pages_leads_somewhere() {
    let site = Site::with_a_run().await;
    site.store_run("r2", 2).await;
    let mut waiting = vec!["/runs".to_owned(), "/suites".to_owned()];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(target) = waiting.pop() {
        let here = target.split('#').next().unwrap_or_default().to_owned();
        // Live events of a run and the API's documents are tested on their own.
        if here.is_empty() || !seen.insert(here.clone()) || here.ends_with("/events") {
            continue;
        }
        let answer = site.get(&here).await;
        assert_eq!(answer.status, StatusCode::OK, "{here}");
        if !answer.header("content-type").starts_with("text/html") {
            continue;
        }
        for part in answer.body.split("href=\"").skip(1) {
            let link = part.split('"').next().unwrap_or_default();
            if link.starts_with("data:image/svg+xml,") {
                continue; // the mark for tabs
            }
            assert!(link.starts_with(['/', '#']), "{here} leads out: {link}");
            waiting.push(link.replace("&amp;", "&"));
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
}
