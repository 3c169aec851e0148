// In which order the content of a group is counted: blobs, then manifests, by repo and digest, then the files of
// libraries, by artifact. A quota knows up to where it was counted; what comes before that is counted as it changes,
// and what comes after it when counting gets there.

/** A row of `repo_blobs` or `manifests`, or files of an artifact. */
export type ContentKind = "blob" | "manifest" | "file";

const CODES: Readonly<Record<ContentKind, string>> = { blob: "1", manifest: "2", file: "3" };

/** Where counting begins, and where everything is counted. */
export const BEGINNING = "";
export const COUNTED = "9";

/** The position of some content. All files of an artifact have one, since they are counted together. */
export function positionOf(kind: ContentKind, place: string, digest: string): string {
  // Nothing that a uid or a digest has sorts before the space, so that positions sort as their parts do.
  return kind === "file" ? `${CODES.file} ${place}` : `${CODES[kind]} ${place} ${digest}`;
}

/** What is counted next after a position, and after which place and digest of that kind; undefined when all is. */
export function nextAfter(position: string): { kind: ContentKind; place: string; digest: string } | undefined {
  const [code = "", place = "", digest = ""] = position.split(" ");
  if (position === BEGINNING) return { kind: "blob", place: "", digest: "" };
  const kind = (Object.keys(CODES) as ContentKind[]).find((each) => CODES[each] === code);
  return kind && { kind, place, digest };
}

/** The position at which everything of the kind is counted. */
export function endOf(kind: ContentKind): string {
  return kind === "file" ? COUNTED : kind === "blob" ? `${CODES.manifest}  ` : `${CODES.file} `;
}
