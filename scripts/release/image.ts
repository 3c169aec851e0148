// The server's image as an OCI layout, for two processors, without a daemon and without a base image: the libraries
// that Node needs from Debian's packages, Node, and the package `moorage`. Nothing else is in it: neither a shell nor
// a package manager.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandVersion } from "../bundle/one-file.ts";
import { ROOT } from "../bundle/programs.ts";
import { type Architecture, ARCHITECTURES, debianPackages, nodePackage } from "./inputs.ts";
import { Missing } from "./missing.ts";
import { type Descriptor, type Layout, layoutIn } from "./oci-layout.ts";
import { type Entry, entriesOf, gzipped, tarOf } from "./tar.ts";
import { releaseTime } from "./time.ts";

const USER = 1000;
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
/** Of no use without a person in the container: manuals, translations, checks of packagers. */
const LEFT_OUT = /^usr\/share\/(?:man|info|locale|lintian)(?:\/|$)|^usr\/share\/doc\/[^/]+\/(?!copyright$)/;

/**
 * Writes the image into that empty folder, with the version as the tag. Throws Missing where a part is not to be had.
 */
export function makeImage(packageFolder: string, folder: string): void {
  const inputs = ARCHITECTURES.map((one) => ({
    architecture: one,
    debian: debianPackages(one),
    node: nodePackage(one),
  }));
  const layout = layoutIn(folder);
  const program = layerOf(layout, programEntries(packageFolder));
  const manifests = inputs.map(({ architecture, debian, node }) => {
    const system = layerOf(layout, systemEntries(debian));
    const binary = layerOf(layout, nodeEntries(node));
    return imageOf(layout, architecture, [system, binary, program]);
  });
  const mediaType = "application/vnd.oci.image.index.v1+json";
  layout.finish(layout.add(mediaType, { schemaVersion: 2, mediaType, manifests }), commandVersion());
}

/** A layer: the blob, and the digest of it uncompressed. */
interface Layer {
  descriptor: Descriptor;
  diffId: string;
}

function layerOf(layout: Layout, entries: Entry[]): Layer {
  const tar = tarOf(entries);
  const diffId = `sha256:${createHash("sha256").update(tar).digest("hex")}`;
  return { descriptor: layout.add("application/vnd.oci.image.layer.v1.tar+gzip", gzipped(tar)), diffId };
}

function imageOf(layout: Layout, { oci }: Architecture, layers: Layer[]): Descriptor {
  const created = releaseTime();
  const labels = {
    "org.opencontainers.image.title": "Moorage",
    "org.opencontainers.image.description": "A self-hosted container registry with its control plane",
    "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.version": commandVersion(),
  };
  const config = layout.add("application/vnd.oci.image.config.v1+json", {
    created,
    architecture: oci,
    os: "linux",
    // As in deploy/Dockerfile.
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { "8080/tcp": {} },
      Env: [
        "PATH=/opt/moorage/bin:/usr/local/bin",
        "NODE_ENV=production",
        "MOORAGE_HOST=0.0.0.0",
        "MOORAGE_PORT=8080",
        "MOORAGE_DATA_DIR=/data",
      ],
      Cmd: ["moorage", "serve"],
      Volumes: { "/data": {} },
      WorkingDir: "/data",
      StopSignal: "SIGTERM",
      Healthcheck: {
        Test: ["CMD", "node", "/opt/moorage/health.mjs"],
        Interval: 10e9,
        Timeout: 5e9,
        StartPeriod: 30e9,
        StartInterval: 1e9,
        Retries: 3,
      },
      Labels: labels,
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: "npm run release" })),
  });
  const descriptors = layers.map(({ descriptor }) => descriptor);
  const manifest = { schemaVersion: 2, mediaType: MANIFEST, config, layers: descriptors, annotations: labels };
  return { ...layout.add(MANIFEST, manifest), platform: { architecture: oci, os: "linux" } };
}

/** The libraries, and what scanners of images read of them. */
function systemEntries(packages: ReturnType<typeof debianPackages>): Entry[] {
  const work = mkdtempSync(join(tmpdir(), "moorage-image-"));
  try {
    const records: Entry[] = [{ name: "var/lib/dpkg/status.d" }];
    for (const [{ name }, file] of packages) {
      const unpacked = run("dpkg-deb", ["--extract", file, work]);
      if (unpacked === undefined) throw new Missing("packages of Debian cannot be unpacked here: there is no dpkg-deb");
      const record = run("dpkg-deb", ["--field", file]) ?? "";
      records.push({ name: `var/lib/dpkg/status.d/${name}`, content: record });
    }
    const own = entriesOf(work, "").filter(({ name }) => !LEFT_OUT.test(name) && name !== "tmp");
    const names = new Set(own.map(({ name }) => name));
    const parents = ["var", "var/lib", "var/lib/dpkg", "etc"]
      .filter((name) => !names.has(name))
      .map((name) => ({ name }));
    return [
      ...own,
      ...parents,
      ...records,
      { name: "tmp", mode: 0o1777 },
      { name: "data", mode: 0o700, owner: USER },
      { name: "etc/passwd", content: `root:x:0:0:root:/:/nologin\nmoorage:x:${USER}:${USER}:Moorage:/tmp:/nologin\n` },
      { name: "etc/group", content: `root:x:0:\nmoorage:x:${USER}:\n` },
      { name: "etc/nsswitch.conf", content: "hosts: files dns\n" },
    ];
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 10 });
  }
}

function nodeEntries(node: string): Entry[] {
  return [
    { name: "usr" },
    { name: "usr/local" },
    { name: "usr/local/bin" },
    { name: "usr/local/bin/node", content: readFileSync(join(node, "bin/node")), mode: 0o755 },
    { name: "usr/local/LICENSE-node", content: readFileSync(join(node, "LICENSE")) },
  ];
}

/** What deploy/image/assemble.sh lays out, with a command that needs no `env`. */
function programEntries(packageFolder: string): Entry[] {
  const command = '#!/usr/local/bin/node\nimport("/opt/moorage/node_modules/moorage/bin/moorage.js");\n';
  return [
    ...["opt", "opt/moorage", "opt/moorage/bin", "opt/moorage/node_modules"].map((name) => ({ name })),
    ...entriesOf(packageFolder, "opt/moorage/node_modules/moorage"),
    { name: "opt/moorage/bin/moorage", content: command, mode: 0o755 },
    { name: "opt/moorage/health.mjs", content: readFileSync(join(ROOT, "deploy/image/health.mjs")) },
    { name: "opt/moorage/LICENSE", content: readFileSync(join(ROOT, "LICENSE")) },
  ];
}

/** What a program printed; undefined when it is not on this machine. Throws when it failed. */
function run(program: string, args: readonly string[]): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return undefined;
  if (status !== 0) throw new Error(`${program} failed: ${stderr.trim()}`);
  return stdout;
}
