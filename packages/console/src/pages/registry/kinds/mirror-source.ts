/** What a reference that somebody pastes says of a mirror. */
export interface MirrorSource {
  /** The image without its tag, as the API takes it. */
  source: string;
  /** The last part of its path, as a name for the image here. */
  name: string;
  /** The tag that it names, as a pattern; empty for all. */
  tagPattern: string;
}

/**
 * A reference as it is copied from elsewhere, such as `docker pull registry.example.com/team/app:1.2`: the image alone,
 * and its tag as the pattern that matches it. A digest is left out: mirrors follow tags.
 */
export function mirrorSource(text: string): MirrorSource {
  const image =
    text
      .trim()
      .replace(/^(?:docker|podman|crane|skopeo) pull /, "")
      .split("@")[0] ?? "";
  // Before the last slash it is the port of a registry.
  const colon = image.indexOf(":", image.lastIndexOf("/") + 1);
  const source = colon < 0 ? image : image.slice(0, colon);
  const tag = colon < 0 ? "" : image.slice(colon + 1);
  return {
    source,
    name: source.slice(source.lastIndexOf("/") + 1).toLowerCase(),
    tagPattern: tag.replaceAll(/[.+*?^$()[\]{}|\\]/g, String.raw`\$&`),
  };
}
