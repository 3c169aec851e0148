// A folder as a docker-registry leaves it. Source: distribution/distribution, registry/storage/paths.go.
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildSampleImage, type Content, digestOf } from "../src/oci/image.ts";

/** The folder of a registry, into which the test writes. */
export interface DistributionFolder {
  /** The folder with `docker/registry/v2`. */
  root: string;
  /** The file with the content of a digest. */
  dataOf(digest: string): string;
  /** A path below `repositories`. */
  repository(...parts: string[]): string;
  /** Writes an image of two platforms and has the tag point to it, at that time. The index's digest. */
  push(repo: string, tag: string, build: number, time?: string): Promise<string>;
  /** Writes content, and links it to the repository. Its digest. */
  manifest(repo: string, body: object): string;
  blob(repo: string, bytes: Buffer): { digest: string; size: number };
  tag(repo: string, tag: string, digest: string, time?: string): void;
}

export function distributionFolder(root: string): DistributionFolder {
  const at = (...parts: string[]): string => join(root, "docker/registry/v2", ...parts);
  const pathOf = (digest: string): string => digest.replace(":", "/");
  const write = (path: string, content: string | Buffer): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  const folder: DistributionFolder = {
    root,
    dataOf: (digest) => at("blobs/sha256", digest.slice(7, 9), digest.slice(7), "data"),
    repository: (...parts) => at("repositories", ...parts),
    async push(repo, tag, build, time) {
      const { images, index } = await buildSampleImage(build);
      for (const { blobs, manifest } of images) {
        for (const blob of blobs) folder.blob(repo, blob.bytes);
        keep(repo, manifest);
      }
      keep(repo, index);
      folder.tag(repo, tag, index.digest, time);
      return index.digest;
    },
    manifest(repo, body) {
      const bytes = Buffer.from(JSON.stringify(body));
      return keep(repo, { bytes, digest: digestOf(bytes) });
    },
    blob(repo, bytes) {
      const digest = digestOf(bytes);
      write(folder.dataOf(digest), bytes);
      write(at("repositories", repo, "_layers", pathOf(digest), "link"), digest);
      return { digest, size: bytes.length };
    },
    tag(repo, tag, digest, time = "2024-01-01T00:00:00Z") {
      const tags = at("repositories", repo, "_manifests/tags", tag);
      for (const link of [join(tags, "current/link"), join(tags, "index", pathOf(digest), "link")]) {
        write(link, digest);
        utimesSync(link, new Date(time), new Date(time));
      }
    },
  };
  const keep = (repo: string, { bytes, digest }: Pick<Content, "bytes" | "digest">): string => {
    write(folder.dataOf(digest), bytes);
    write(at("repositories", repo, "_manifests/revisions", pathOf(digest), "link"), digest);
    return digest;
  };
  return folder;
}
