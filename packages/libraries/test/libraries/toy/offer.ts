import type { DocumentReader } from "../../../src/libraries/ecosystem/document-kind.ts";
import type { OfferedDocument } from "../../../src/libraries/requests/document.ts";
import { type ListKind, listDocument } from "./tasks.ts";

/** A version that an upstream lists: `<version> <SHA-256> <license>` on a line. */
export interface OfferedToy {
  sha256: string;
  license: string;
  /** When it was listed first, in milliseconds since 1970. */
  seenMs: number;
}

export const listReader: DocumentReader<Record<string, OfferedToy>, undefined> = {
  parse(bytes, _, { nowMs, previous }) {
    const lines = bytes
      .toString()
      .split("\n")
      .filter((line) => line !== "");
    return Object.fromEntries(
      lines.map((line) => {
        const [version = "", sha256 = "", license = ""] = line.split(" ");
        return [version, { sha256, license, seenMs: previous?.[version]?.seenMs ?? nowMs }];
      }),
    );
  },
};

export function offeredList(name: string): (upstream: { url: string }) => OfferedDocument<ListKind> {
  return ({ url }) => ({
    name,
    wanted: { kind: listDocument, args: undefined, url: `${url}/${name}/`, accept: "text/plain" },
  });
}
