import type { Readable } from "node:stream";

/** One layer of an image: its digest, and its bytes as a tar archive: plain, gzip or zstd, whatever is claimed. */
export interface Layer {
  digest: string;
  open(): AsyncIterable<Uint8Array> | Readable;
}

/** Bounds of the work for one image. Who exceeds one ends with a CatalogError. */
export interface CatalogLimits {
  layers: number;
  /** Unpacked bytes of all layers and of the archives in them. */
  bytes: number;
  /** Entries of all layers and of the archives in them. */
  entries: number;
  /** Packages that are found in all layers, those that a link names a second time included. */
  packages: number;
  /** Folders in which files with packages lie. */
  folders: number;
  /** What is kept of these: names, versions, paths, in characters. */
  characters: number;
}

/** What os-release(5) says; empty where it says nothing. */
export interface OsRelease {
  id: string;
  versionId: string;
  prettyName: string;
}

/** Types of purls that readers find. */
type PackageType =
  | "deb"
  | "apk"
  | "rpm"
  | "npm"
  | "pypi"
  | "maven"
  | "golang"
  | "cargo"
  | "composer"
  | "gem"
  | "nuget"
  | "conda"
  | "cran"
  | "hex"
  | "otp"
  | "generic";

/** A package as a reader found it, before the distribution is known. */
export interface FoundPackage {
  /** The type of its purl. */
  type: PackageType;
  /**
   * The npm scope with its @, the group of Maven, or the vendor of Composer. That of distribution packages comes from
   * os-release.
   */
  namespace?: string;
  name: string;
  version: string;
  architecture?: string;
  /** The epoch of an rpm, without which `version` is. */
  epoch?: string;
  /** The source package; absent where an ecosystem has none. */
  sourceName?: string;
  sourceVersion?: string;
  licence?: string;
  /** Where it lies inside of the file, such as the path of a nested jar. */
  inner?: string;
  /** Of a Java archive that is not identified: its ArchiveClues as JSON; empty if it could not be read as a whole. */
  clues?: string;
}

/** What else was found in one file. `unread`: why it, or a part of it, could not be read. */
export interface Reading {
  os?: OsRelease;
  unread?: string;
}

/** A package of an image. */
export interface Component {
  /** Normalized. */
  purl: string;
  name: string;
  /** As its ecosystem writes it; an rpm's with its epoch. */
  version: string;
  /** The source package and its version, for packages of distributions; empty otherwise. */
  sourceName: string;
  sourceVersion: string;
  /** As the package states it; empty when it states none. */
  licence: string;
  /** The digest of the layer that brought this version. */
  layer: string;
  /** In the image, without a slash in front; inside of a jar after `!/`. */
  path: string;
  /** The reader that found it, such as dpkg, npm or python; go or rust for what is in programs. */
  reader: string;
  /** Of a Java archive that is not identified: its ArchiveClues as JSON. */
  clues?: string;
}

/**
 * A file that was seen and not read, and why; or (`kind`) a Java archive that was read and of which is not known what
 * it is.
 */
export interface Unread {
  path: string;
  layer: string;
  reason: string;
  kind?: "UNIDENTIFIED";
  /** Of such an archive: the SHA-1 of its bytes, in hex. */
  sha1?: string;
  /** Of such an archive: it has a name and a version, and is identified when a feed knows it. */
  waits?: true;
}

/** What an image holds. Components are in the order of their paths. */
export interface Catalog {
  os: OsRelease | undefined;
  components: Component[];
  unread: Unread[];
}

/** Why an image could not be read. It would fail again. */
export class CatalogError extends Error {
  readonly isFinal = true;
}

/**
 * Why something could not be read. `isFinal`: it would fail again. `isSoon`: nothing has to heal before the next
 * attempt, such as the storage, so that it need not wait long.
 */
export interface NotRead {
  reason: string;
  isFinal: boolean;
  isSoon?: boolean;
}
