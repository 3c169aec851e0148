// The names of the rows of a document in `upstream_documents`. No name of a document has a tab or a line feed in it.

/** Behind the name of a document whose entries are in pieces. Servers from before there were such do not look at it. */
export const DIVIDED = "\tdivided";

/** The name of a piece. */
export function pieceName(name: string, revision: string, number: number): string {
  return `${piecesOf(name, revision).from}${number}`;
}

/** The range of the names of the pieces of a document, or of one revision of it. */
export function piecesOf(name: string, revision?: string): { from: string; to: string } {
  const start = revision === undefined ? name : `${name}\n${revision}`;
  // A vertical tab follows the line feed.
  return { from: `${start}\n`, to: `${start}\v` };
}

/** Matches the names of pieces in SQL's `like`. */
export const LIKE_A_PIECE = "%\n%";
