import type { StoredLayer } from "../catalog/queue.ts";
import type { Component } from "../catalog/types.ts";
import type { VexStatement, VexStatus } from "../vex/types.ts";

/** A layer of an attached manifest that may hold a document. */
export interface AttachedLayer {
  /** Which layer of the manifest, from 0. */
  n: number;
  digest: string;
  mediaType: string;
  /** Its bytes; undefined when they are not stored here. */
  stored?: StoredLayer;
}

/** What one layer of an attached manifest says about the subject. */
export interface AttachedDocument {
  n: number;
  layer: string;
  mediaType: string;
  /** `cyclonedx`, `spdx`, `openvex` or `csaf`; empty when that is not known. */
  kind: string;
  /** Why it does not count; empty when it does. */
  reason: string;
  /** When the document says it was made, in milliseconds since 1970; 0 when it says nothing. */
  timeMs: number;
  components: Component[];
  /** Of a VEX document: its id and its author; empty otherwise. */
  documentId: string;
  author: string;
  statements: StoredStatement[];
  /** Its statements about something else: how many, and the first of them. */
  passedOver: { total: number; first: PassedOver[] };
  /** Of a CycloneDX document with a serial number: by which references others link to its components. */
  refs: { ref: string; purl: string }[];
}

/** A statement that is not about the image or a package. */
export interface PassedOver {
  ids: string[];
  status: VexStatus;
  /** As the document names it. */
  product: string;
  /** In words, as "it is about another product". */
  reason: string;
}

/** What a VEX document says of the image, as it is stored. `target`: see targetOf. */
export interface StoredStatement extends Omit<VexStatement, "component"> {
  target: string;
}

/** A document cannot be read, or must not count. The message is one line that names the field, if it is one. */
export class AttachedError extends Error {}
