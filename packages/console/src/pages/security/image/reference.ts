/** A reference to an image: `acme/app@sha256:…` or `acme/app:tag`; of both, the digest counts. */
export interface Reference {
  name: string;
  tag: string;
  digest: string;
}

/** Reads a reference; without a tag and a digest the tag is `latest`. */
export function parseReference(text: string): Reference {
  const [before = "", digest = ""] = text.trim().split("@", 2);
  const cut = before.lastIndexOf(":");
  const isTagged = cut > before.lastIndexOf("/");
  const name = isTagged ? before.slice(0, cut) : before;
  return { name, tag: isTagged ? before.slice(cut + 1) : digest === "" ? "latest" : "", digest };
}
