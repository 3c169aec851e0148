import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { create } from "tar";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { newRepoPlace } from "../../../server/test/support/catalog/place.ts";
import { pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startPlatform } from "../../../server/test/support/platform.ts";

// Images of packages from the registries that images are made of, against what each ecosystem's own tool lists.

/** A folder for each ecosystem, with its tool's list beside it; `.ci/real-packages.sh` makes it. */
const FOLDER = process.env["MOORAGE_TEST_REAL_PACKAGES"] ?? "";
const skip = FOLDER === "" ? "fetches packages: run .ci/real-packages.sh" : false;

const GZIP = "application/vnd.oci.image.layer.v1.tar+gzip";
const ZSTD = "application/vnd.oci.image.layer.v1.tar+zstd";
const AMD64 = { os: "linux", architecture: "amd64" };
const ARM64 = { os: "linux", architecture: "arm64" };

interface Component {
  purl?: string;
  properties?: { name: string; value: string }[];
}

/** The lines of an ecosystem's list, in words; undefined where the ecosystem is not there. */
function listed(ecosystem: string): string[][] | undefined {
  const file = path.join(FOLDER, `${ecosystem}.txt`);
  if (!existsSync(file)) return undefined;
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.trim().split(/\s+|==/));
}

/** The folder of an ecosystem as a tar archive. */
async function layerOf(ecosystem: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of create({ cwd: path.join(FOLDER, ecosystem), portable: true }, ["."])) parts.push(part);
  return Buffer.concat(parts);
}

/** The purls that the ecosystem's own list amounts to, not encoded. Source: the types of the purl specification. */
const PURLS: Record<string, (lines: string[][]) => string[]> = {
  debian: (lines) => {
    const release = /^VERSION_ID="?(\d+)/m.exec(readFileSync(path.join(FOLDER, "debian/etc/os-release"), "utf8"))?.[1];
    return lines.map(
      ([name = "", version = "", architecture = ""]) =>
        `pkg:deb/debian/${name}@${version}?arch=${architecture}&distro=debian-${release}`,
    );
  },
  npm: (lines) => lines.map(([name = "", version = ""]) => `pkg:npm/${name}@${version}`),
  // Source: PEP 503, "Normalized Names".
  python: (lines) =>
    lines.map(([name = "", version = ""]) => `pkg:pypi/${name.toLowerCase().replaceAll(/[-_.]+/g, "-")}@${version}`),
  java: (lines) => lines.map(([group = "", name = "", version = ""]) => `pkg:maven/${group}/${name}@${version}`),
  go: (lines) => {
    const release = /go(\d[\w.]*)/.exec(lines[0]?.[1] ?? "")?.[1];
    const modules = lines
      .filter(([kind, , version]) => (kind === "dep" || kind === "mod") && version !== "(devel)")
      .map(([, name = "", version = ""]) => `pkg:golang/${name}@${version}`);
    return [`pkg:golang/stdlib@${release}`, ...modules];
  },
};

test("images of real packages hold what each ecosystem's own tool lists", { skip, timeout: 300_000 }, async (t) => {
  const expected = new Map<string, string[]>();
  for (const [ecosystem, purlsOf] of Object.entries(PURLS)) {
    const lines = listed(ecosystem);
    if (lines === undefined) t.diagnostic(`${ecosystem}: nothing was fetched`);
    else expected.set(ecosystem, [...new Set(purlsOf(lines))].toSorted());
  }
  const platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  t.after(() => platform.close());
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token);

  /** What the digest holds, with the platforms of each, once it has been read. */
  const purlsIn = async (digest: string): Promise<Map<string, string[]>> => {
    const sbom = `/registry/v2/repos/${place.repo}/digests/${digest}/sbom`;
    const bearer = { token: await platform.token() };
    const { components } = await eventually(async () => {
      const { status, body, text } = await platform.call("GET", sbom, bearer);
      if (status === 200) return body["document"] as { components: Component[] };
      assert.match(text, /waits to be read/);
      return undefined;
    });
    return new Map(
      components.flatMap(({ purl, properties = [] }): [string, string[]][] =>
        purl === undefined
          ? []
          : [
              [
                decodeURIComponent(purl),
                properties.filter(({ name }) => name === "moorage:platform").map(({ value }) => value),
              ],
            ],
      ),
    );
  };
  const sorted = (found: Map<string, unknown>, type: string): string[] =>
    [...found.keys()].filter((purl) => purl.startsWith(`pkg:${type}/`)).toSorted();
  const TYPES = { debian: "deb", npm: "npm", python: "pypi", java: "maven", go: "golang" };

  const layers = new Map<string, Buffer>();
  for (const ecosystem of expected.keys()) layers.set(ecosystem, await layerOf(ecosystem));
  const all = [...layers.values()];
  const amd64 = await pushLayers(
    place,
    "amd64",
    all.map((layer) => zstdCompressSync(layer)),
    ZSTD,
  );
  const found = await purlsIn(amd64);
  for (const [ecosystem, purls] of expected) {
    assert.ok(purls.length > 5, `${ecosystem}: ${purls.length}`);
    assert.deepEqual(sorted(found, TYPES[ecosystem as keyof typeof TYPES]), purls, ecosystem);
    t.diagnostic(`${ecosystem}: ${purls.length} packages`);
  }

  // A layer on top takes npm's packages away, as a whiteout and as an opaque folder do.
  const npm = layers.get("npm");
  assert.ok(npm);
  for (const whiteout of [".wh.node_modules", "node_modules/.wh..wh..opq"]) {
    const top = gzipSync(tarOf([{ path: whiteout }]));
    const without = await purlsIn(await pushLayers(place, "without", [gzipSync(npm), top], GZIP));
    assert.deepEqual(
      sorted(without, "npm").filter((purl) => !purl.startsWith("pkg:npm/shop@")),
      [],
      whiteout,
    );
  }

  // The index of two architectures is the union, and each package names where it is.
  const arm64 = await pushLayers(place, "arm64", [gzipSync(npm)], GZIP, ARM64);
  const index = await pushIndex(place, "both", [
    [amd64, AMD64],
    [arm64, ARM64],
  ]);
  const union = await purlsIn(index);
  assert.deepEqual([...union.keys()].toSorted(), [...found.keys()].toSorted());
  for (const [purl, platforms] of union)
    assert.deepEqual(platforms, purl.startsWith("pkg:npm/") ? ["linux/amd64", "linux/arm64"] : ["linux/amd64"], purl);
});
