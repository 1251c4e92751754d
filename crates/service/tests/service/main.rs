//! Runs in the background, on the demo of a server and the scripted model.

mod launch;
