//! `rt_info`, the metadata of a network and of its layers: a written network keeps that of the network, and
//! copied layers keep theirs.

use roxmltree::{Document, Node};

use indim_model::{FormatError, FormatLimits, WrittenModel};

use crate::xml;

/// The element of a writer that has no metadata.
const EMPTY: &str = "<rt_info />";

/// Adds the metadata of the network `text` to a written file, and notes what the file lacks.
///
/// # Errors
/// Those of [`xml::parse`].
pub(super) fn with_metadata(
    text: &str,
    limits: &FormatLimits,
    written: WrittenModel,
    is_own_format: bool,
) -> Result<WrittenModel, FormatError> {
    let document = xml::parse(text, limits)?;
    let own = xml::child(document.root_element(), "rt_info").filter(has_content);
    let layers = layers_with_metadata(&document);
    if !is_own_format {
        let network = own.map(|_| "rt_info of the network".to_owned());
        let dropped = network.into_iter().chain(dropped_text(layers)).collect();
        return Ok(WrittenModel { dropped, ..written });
    }
    let mut content = String::from_utf8_lossy(&written.content).into_owned();
    let kept = layers_with_metadata(&xml::parse(&content, limits)?);
    if let (Some(own), Some(at)) = (own, content.rfind(EMPTY)) {
        content.replace_range(at..at + EMPTY.len(), &text[own.range()]);
    }
    let dropped = dropped_text(layers.saturating_sub(kept)).into_iter().collect();
    Ok(WrittenModel { content: content.into_bytes(), dropped, ..written })
}

fn has_content(node: &Node<'_, '_>) -> bool {
    node.has_children() || node.attributes().len() > 0
}

/// The number of layers with metadata of their own or of their ports.
fn layers_with_metadata(document: &Document<'_>) -> usize {
    let is_own = |node: Node<'_, '_>| node.has_tag_name("rt_info") && has_content(&node);
    let has_own = |layer: &Node<'_, '_>| layer.descendants().any(is_own);
    let layers = xml::child(document.root_element(), "layers");
    layers.map_or(0, |layers| xml::children(layers, "layer").filter(has_own).count())
}

fn dropped_text(layers: usize) -> Option<String> {
    (layers > 0).then(|| format!("rt_info of layers: {layers}"))
}
