// Files that packages of languages leave in images, at the limits of their readers: few packages, so that what takes
// long is the reading, not the comparison with records.
import { deflateSync, gzipSync } from "node:zlib";
import type { Database } from "../../../../kernel/src/store/index.ts";
import { type TarEntry, tarOf, zipOf } from "../catalog/archives.ts";
import { elfWith } from "../catalog/programs.ts";
import { pushArtifact } from "../catalog/push.ts";
import { eventually } from "../eventually.ts";
import type { HeavyInput, HeavyWorld } from "./input.ts";

const MIB = 1024 * 1024;
const TAR = "application/vnd.oci.image.layer.v1.tar";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const POLL_MS = 10;
/** The states of a reading. */
const DONE = 2;
const FAILED = 3;
/** How many packages each file names that names many. */
const PACKAGES = 500;

let pushed = 0;

interface ReadFiles {
  title: string;
  files: () => TarEntry[];
  /** The readers that find packages in them. */
  readers: readonly string[];
}

/** An image with the files, which is pushed anew for each request. Ends when it was read. */
function readOf({ title, files, readers }: ReadFiles): HeavyInput {
  return {
    title,
    statuses: [200],
    // Two images are read at a time at most: more side by side show nothing more.
    times: 2,
    // Fewer are answered between the steps of a server that waits for its reading.
    pings: 200,
    isLater: true,
    env: { MOORAGE_CATALOG_IMAGES: "1" },
    async prepare(world) {
      // Made once: what takes time here is taken from the server.
      const layer = { mediaType: `${TAR}+gzip`, content: gzipSync(tarOf(files())) };
      return async (began, working) => {
        const digest = await push(world, layer);
        await world.write(async (db) => {
          await read(db, digest, working);
          const rows = await db
            .selectFrom("image_packages")
            .select("reader")
            .distinct()
            .where("digest", "=", digest)
            .execute();
          const missing = readers.filter((reader) => !rows.some((row) => row.reader === reader));
          if (missing.length > 0) throw new Error(`${title}: no packages were read by ${missing.join(", ")}`);
        });
        began?.(200);
        return { status: 200, headers: {}, bytes: 0, text: "" };
      };
    },
  };
}

/** Pushes an image that nobody has read: its first layer is its own. */
async function push(
  { url, registry: token, organization }: HeavyWorld,
  layer: { mediaType: string; content: Uint8Array },
): Promise<string> {
  const own = { mediaType: TAR, content: tarOf([{ path: "own", content: String((pushed += 1)) }]) };
  return await pushArtifact(
    { url, token, name: `${organization.name}/readers` },
    {
      reference: `v${pushed}`,
      config: { mediaType: CONFIG, content: JSON.stringify({ architecture: "amd64", os: "linux" }) },
      layers: [own, layer],
    },
  );
}

/** Waits until the image was read. `working`: called once its reading has begun. */
async function read(db: Database, digest: string, working: (() => void) | undefined): Promise<void> {
  await eventually(
    async () => {
      const row = await db
        .selectFrom("image_catalogs")
        .select(["state", "holder", "reason"])
        .where("digest", "=", digest)
        .executeTakeFirst();
      if (row === undefined) return false;
      if (row.state === FAILED) throw new Error(`the image was not read: ${row.reason}`);
      if (row.holder !== "" || row.state === DONE) working?.();
      return row.state === DONE;
    },
    { everyMs: POLL_MS },
  );
}

const many = (count: number, of: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => of(n)).join(",");

/** Archives: of Java with many parts, with others inside, and with a deep document; an egg; and one of Yarn's cache. */
function archives(): TarEntry[] {
  const parts = Object.fromEntries(
    Array.from({ length: PACKAGES }, (_, n) => [
      `META-INF/maven/org.acme/part-${n}/pom.properties`,
      `groupId=org.acme\nartifactId=part-${n}\nversion=1.${n}\n#${"-".repeat(20_000)}`,
    ]),
  );
  const inner = zipOf({ "META-INF/MANIFEST.MF": `Manifest-Version: 1.0\n${"x".repeat(MIB - 100)}` });
  const nested = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`WEB-INF/lib/${n}.jar`, inner]));
  return [
    { path: "app/shaded.jar", content: zipOf(parts) },
    { path: "app/nested.war", content: zipOf(nested) },
    { path: "app/deep.jar", content: zipOf({ "META-INF/maven/g/a/pom.xml": "<a>".repeat(300_000), "A.class": "" }) },
    {
      path: "usr/lib/a.egg",
      content: zipOf({ "EGG-INFO/PKG-INFO": `Name: a\nVersion: 1\n${"Classifier: x\n".repeat(500_000)}` }),
    },
    {
      path: "app/.yarn/cache/a.zip",
      content: zipOf({ "node_modules/a/package.json": `{"name":"a","version":"1.0.0"${" ".repeat(3 * MIB)}}` }),
    },
  ];
}

/** Lists and descriptions of packages, whole ones and such as never end. */
function descriptions(): TarEntry[] {
  const filler = many(1_000, String);
  return [
    {
      path: "app/vendor/composer/installed.json",
      content: `{"packages":[${many(PACKAGES, (n) => `{"name":"acme/p${n}","version":"1.0.${n}","x":[${filler}]}`)}]}`,
    },
    {
      path: "app/x.deps.json",
      content: `{"libraries":{${many(PACKAGES, (n) => `"P${n}/1.0":{"type":"package","x":[${filler}]}`)}}}`,
    },
    {
      path: "map/.pnp.data.json",
      content: `{"packageRegistryData":[${many(PACKAGES, (n) => `["p${n}",[["npm:1.0.0",{"x":[${filler}]}]]]`)}]}`,
    },
    { path: "app/.pnp.cjs", content: `RAW_RUNTIME_STATE =\n'${"\\\n".repeat(2 * MIB)}'` },
    { path: "web/.pnp.cjs", content: `return hydrateRuntimeState({${"{".repeat(4 * MIB)}` },
    { path: "usr/specifications/a-1.gemspec", content: 's.name = "'.repeat((3 * MIB) / 10) },
    { path: "conda/conda-meta/a.json", content: `{"name":"a","version":"1","files":[${"[],".repeat(1_000_000)}[]]}` },
    {
      path: "usr/lib/R/a/DESCRIPTION",
      content: `Package: a\nVersion: 1\nBuilt: R 4\nLicense: x\n${" y\n".repeat(MIB)}`,
    },
    {
      path: "lib/a/ebin/a.app",
      content: `{application,a,[{vsn,"1"},{description,"${"\\x".repeat(MIB)}"}]}.`,
    },
    { path: "lib/b/ebin/b.app", content: "{".repeat(3 * MIB) },
  ];
}

/** Programs with the crates they are made of, each with as many dependencies as fit. */
function programs(): TarEntry[] {
  const dependencies = Array.from({ length: 900 }, (_, n) => n);
  const packages = Array.from({ length: PACKAGES }, (_, n) => ({
    name: `crate-${n}`,
    version: `1.0.${n}`,
    source: "registry",
    dependencies,
  }));
  const list = deflateSync(JSON.stringify({ packages }));
  return Array.from({ length: 16 }, (_, n) => ({
    path: `usr/bin/${n}`,
    mode: 0o755,
    content: elfWith({ ".dep-v0": list, ".note": Buffer.from(String(n)) }),
  }));
}

export const READERS: readonly HeavyInput[] = [
  {
    title: "archives of Java, Python and Yarn in an image",
    files: archives,
    readers: ["java", "python", "npm"],
  },
  {
    title: "lists and descriptions of packages of seven languages in an image",
    files: descriptions,
    readers: ["composer", "dotnet", "npm", "gem", "conda", "r", "erlang"],
  },
  { title: "programs of Rust with long lists of crates in an image", files: programs, readers: ["rust"] },
].map(readOf);
