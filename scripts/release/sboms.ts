// What each part of a release holds, as CycloneDX.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandVersion, oneFileOf } from "../bundle/one-file.ts";
import { ROOT } from "../bundle/programs.ts";
import { sbomOf } from "../bundle/sbom.ts";
import { ARCHITECTURES, PINS } from "./inputs.ts";

interface Document {
  serialNumber?: string;
  metadata: { timestamp?: string };
  components: object[];
}

/** Writes a document for each part; `packageFolder` is the package `moorage` as it is packed. */
export async function writeSboms(packageFolder: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const version = commandVersion();
  copyFileSync(join(packageFolder, "sbom.cdx.json"), join(folder, "npm-moorage.cdx.json"));
  for (const name of ["server", "api"]) write(folder, `npm-moorage-${name}`, ofWorkspace(`@moorage/${name}`));
  const { modules } = await oneFileOf("moorage");
  const command = JSON.parse(sbomOf(modules, { name: "moorage", version })) as Document;
  write(folder, "command", command);
  write(folder, "executables", { ...command, components: [...command.components, nodeComponent()] });
  const server = JSON.parse(sbomOf([], { name: "moorage", version })) as Document;
  const bundled = JSON.parse(readFileSync(join(packageFolder, "sbom.cdx.json"), "utf8")) as Document;
  for (const { oci } of ARCHITECTURES)
    write(folder, `image-${oci}`, {
      ...server,
      components: [...bundled.components, nodeComponent(), ...debianComponents(oci)],
    });
  // The chart holds no software: it names the image.
  const image = { type: "container", "bom-ref": `image:moorage:${version}`, name: "moorage", version };
  write(folder, "chart", {
    ...(JSON.parse(sbomOf([], { name: "moorage-chart", version })) as Document),
    components: [image],
  });
}

function write(folder: string, name: string, document: Document): void {
  writeFileSync(join(folder, `${name}.cdx.json`), `${JSON.stringify(document, null, 2)}\n`);
}

/** The document of npm itself, without what differs at each run. */
function ofWorkspace(name: string): Document {
  const args = ["sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only", "--workspace", name];
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr.trim()}`);
  const { serialNumber: _, metadata, ...rest } = JSON.parse(stdout) as Document;
  const { timestamp: _time, ...about } = metadata;
  return { ...rest, metadata: about };
}

function nodeComponent(): object {
  const { version } = PINS.node;
  const purl = `pkg:generic/node@${version}`;
  return {
    type: "application",
    "bom-ref": purl,
    name: "node",
    version,
    purl,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  };
}

function debianComponents(architecture: string): object[] {
  return (PINS.debian.packages[architecture] ?? []).map(({ name, version, sha256 }) => {
    const purl = `pkg:deb/debian/${name.replaceAll("+", "%2B")}@${version.replaceAll("+", "%2B")}?arch=${architecture}&distro=${PINS.debian.suite}`;
    return { type: "library", "bom-ref": purl, name, version, purl, hashes: [{ alg: "SHA-256", content: sha256 }] };
  });
}
