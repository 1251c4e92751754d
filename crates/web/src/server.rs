//! Accepts connections, each with its bounds, until the server is stopped.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// Connections that are open at once.
const MAX_CONNECTIONS: usize = 512;
/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Most bytes of a request's head.
const MAX_HEAD: usize = 64 * 1024;
/// Most header lines of a request.
const MAX_HEADERS: usize = 64;
/// How long answers in flight get when the server stops.
const GRACE: Duration = Duration::from_secs(5);
/// How long to wait when the system gives no more connections.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// Serves until `stopping` is cancelled; answers in flight are finished.
///
/// # Errors
///
/// Never for a connection's sake: only when the listener itself is gone.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stopping: CancellationToken,
) -> io::Result<()> {
    listener.local_addr()?;
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let place = tokio::select! {
            () = stopping.cancelled() => break,
            place = Arc::clone(&room).acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, or a client that left already.
            sleep(EXHAUSTED).await;
            continue;
        };
        let (router, stopping) = (router.clone(), stopping.clone());
        connections.spawn(async move {
            connection(stream, router, stopping).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
    Ok(())
}

async fn connection(stream: TcpStream, router: Router, stopping: CancellationToken) {
    // Without it, answers wait for the client's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router.into_service::<hyper::body::Incoming>());
    let mut connection = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(MAX_HEAD)
            .max_headers(MAX_HEADERS)
            .serve_connection(TokioIo::new(stream), service)
    );
    // A client that breaks off is no error of ours.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = timeout(GRACE, connection).await;
}
