import { Capability as C, type Capability, type SearchKind, type SearchResultSchema } from "@moorage/api/messages";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Database } from "@moorage/kernel/store";
import type { ImagePaths } from "../image-paths.ts";
import type { Position } from "./ranges.ts";

export type Result = MessageInitShape<typeof SearchResultSchema>;

/** What one step of a search reads with. */
export interface Look {
  db: Database;
  /** In lower case. */
  query: string;
  /** Only what is at or below these; sorted. */
  roots: readonly string[];
  paths: ImagePaths;
}

/** Something found, and where it is in the order of its kind. */
export interface Found {
  result: Result;
  position: Position;
}

/** What one step found, in order, and the position that it got to; undefined: there is nothing more. */
interface Looked {
  found: Found[];
  last: Position | undefined;
}

/** How one kind of results is found. */
export interface Searched {
  kind: SearchKind;
  /** The caller finds those in groups where it holds all of these. */
  needs: readonly Capability[];
  /** The rows that one step looks at. Each of them weighs so much in the page's bound. */
  rows: number;
  weight: number;
  /** Whether something of this kind can match. */
  fits(query: string): boolean;
  /** Looks at the next rows after the position; `wanted`: as many results are enough. */
  look(look: Look, after: Position, wanted: number): Promise<Looked>;
}

/** What it takes to find a repo, a tag and a manifest. */
export const NEEDS = {
  repo: [C.CAP_REPO_LIST],
  tag: [C.CAP_REPO_LIST, C.CAP_TAG_LIST],
  manifest: [C.CAP_REPO_LIST, C.CAP_MANIFEST_METADATA_LIST],
} as const;
