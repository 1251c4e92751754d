//! What the workspace promises about itself.

mod layers;
