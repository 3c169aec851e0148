import { createHash } from "node:crypto";
import type { Question, Reply } from "./connections.ts";

export const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar";
const CONFIG = "application/vnd.oci.image.config.v1+json";

/** Somebody who asks. The headers are complete; undefined asks without one. */
export interface Actor {
  name: string;
  uid: string;
  platform: string | undefined;
  registry: string | undefined;
  /** The repo that it asks about most. */
  home?: Repo | undefined;
}
export interface Asked extends Question {
  actor: string;
}
/** A group or a repo, with the two names between which it is renamed. The current one is the first. */
export interface Named {
  uid: string;
  names: [string, string];
}
export interface Group extends Named {
  above: Group | undefined;
}
export interface Repo extends Named {
  above: Group;
  /** Uids by names; deleted ones stay. */
  tags: Map<string, string>;
  policy: boolean;
}
/** What a binding of an actor was last known to be; no uid when it was removed. */
interface Binding {
  actor: string;
  group: Group;
  role: string;
  uid: string;
}

/** What there is, as far as it matters for choosing what to ask and to write: answers are not checked against it. */
export interface World {
  organization: Group;
  open: Group;
  groups: Group[];
  repos: Repo[];
  actors: Map<string, Actor>;
  bindings: Binding[];
  /** Uids of built-in roles by name. */
  roles: Map<string, string>;
  /** The role whose capabilities change. */
  changing: string;
  images: Image[];
  /** Referrers of the first image, which come and go. */
  referrers: Image[];
  index: Image;
  /** The tag suffixes of moments in the past. */
  moments: string[];
  /** Questions that were asked before, and are asked again from time to time. */
  asked: Asked[];
  /** Entity tags and page tokens that were answered before, by actor and path. */
  etags: Map<string, string>;
  pages: Map<string, string>;
}

export const TAGS = ["v1", "v2", "latest", "nightly"];
/** Content that no manifest needs. */
export const LOOSE = "a loose blob";

export interface Image {
  type: string;
  body: string;
  digest: string;
  blobs: string[];
}

export function digestOf(content: string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

export function imageOf(seed: string, subject?: Image): Image {
  const config = JSON.stringify({ architecture: "amd64", os: "linux", seed });
  const layer = `layer ${seed}`;
  const body = JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    ...(subject !== undefined && { artifactType: "application/vnd.example.note" }),
    config: { mediaType: CONFIG, digest: digestOf(config), size: config.length },
    layers: [{ mediaType: LAYER, digest: digestOf(layer), size: layer.length }],
    ...(subject !== undefined && {
      subject: { mediaType: MANIFEST, digest: subject.digest, size: subject.body.length },
      annotations: { seed },
    }),
  });
  return { type: MANIFEST, body, digest: digestOf(body), blobs: [config, layer] };
}

export function indexOf(images: readonly Image[]): Image {
  const manifests = images.map(({ digest, body }) => ({ mediaType: MANIFEST, digest, size: body.length }));
  const body = JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests });
  return { type: INDEX, body, digest: digestOf(body), blobs: [] };
}

/** `<organization>/<groups…>/<repo>` by the names that all of them have now. */
export function pathOf({ above, names: [name] }: Named & { above: Group | undefined }): string {
  return above === undefined ? name : `${pathOf(above)}/${name}`;
}

export function jsonOf<T>({ body }: Reply): T {
  return JSON.parse(body.toString()) as T;
}
