// Documents and archives of libraries: those of other registries, and those that clients send.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { publishDocument } from "../npm.ts";
import { zipOf } from "../zip.ts";
import type { HeavyAnswer, HeavyInput, HeavyRequest, HeavyWorld } from "./input.ts";
import { heavyUpstream, type UpstreamBody } from "./upstream.ts";

const MIB = 1024 * 1024;
const ENV = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" };
const ECOSYSTEMS = { npm: "JAVASCRIPT", pypi: "PYTHON", maven: "JAVA" } as const;
type Ecosystem = keyof typeof ECOSYSTEMS;
/** What waits too long for others that are large is asked to come again. */
const SERVED = [200, 503] as const;

let count = 0;
const fresh = (): string => `n${(count += 1)}`;

async function create(world: HeavyWorld, path: string, body: object): Promise<string> {
  const headers = { "content-type": "application/json" };
  const answer = await world.send("POST", path, { token: world.platform, headers, body: JSON.stringify(body) });
  if (answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  return (JSON.parse(answer.text) as { uid: string }).uid;
}

/** Gives the organization an upstream, and with `policy` a policy. */
async function useUpstream(
  world: HeavyWorld,
  ecosystem: Ecosystem,
  answer: (path: string) => UpstreamBody | undefined,
  policy?: object,
): Promise<void> {
  const upstream = await heavyUpstream();
  upstream.answer(answer);
  const about = { ecosystem: `ECOSYSTEM_${ECOSYSTEMS[ecosystem]}` };
  await create(world, `/libraries/v2/upstreams/${world.organization.uid}`, { ...about, url: upstream.url });
  if (policy !== undefined)
    await create(world, `/libraries/v2/artifactPolicies/${world.organization.uid}`, {
      ...about,
      mode: "POLICY_MODE_ENFORCE",
      ...policy,
    });
}

interface Asked {
  title: string;
  ecosystem: Ecosystem;
  statuses?: readonly number[];
  policy?: object;
  pings?: number;
  headers?: Record<string, string>;
  /** The path below the group, of a package of this name, which is another one each time. */
  path(name: string): string;
  /** What the upstream has at a path. */
  answer(path: string): UpstreamBody | undefined;
}

/** A document of an upstream, of another package with each request. */
function asked({ title, ecosystem, statuses = SERVED, policy, pings, headers, path, answer }: Asked): HeavyInput {
  return {
    title,
    statuses,
    env: ENV,
    ...(pings !== undefined && { pings }),
    async prepare(world) {
      await useUpstream(world, ecosystem, answer, policy);
      return (began) =>
        world.send("GET", `/${ecosystem}/${world.organization.name}/${path(fresh())}`, {
          token: world.registry,
          ...(headers !== undefined && { headers }),
          ...(began !== undefined && { began }),
        });
    },
  };
}

interface Sent {
  title: string;
  statuses: readonly number[];
  pings?: number;
  method: "PUT" | "POST";
  /** A body for each request: its path below the server, and its headers. */
  body(group: string): { path: string; body: Uint8Array | string; headers?: Record<string, string> };
}

/** Something that a client sends. */
function sent({ title, statuses, pings, method, body }: Sent): HeavyInput {
  return {
    title,
    statuses,
    ...(pings !== undefined && { pings }),
    async prepare(world): Promise<HeavyRequest> {
      // What takes long to make is made before anything is measured.
      body(world.organization.name);
      await Promise.resolve();
      return (began): Promise<HeavyAnswer> => {
        const { path, body: bytes, headers = {} } = body(world.organization.name);
        return world.send(method, path, {
          token: world.registry,
          body: bytes,
          headers,
          ...(began !== undefined && { began }),
        });
      };
    },
  };
}

/** A packument of so many versions. `filler`: more of each manifest. */
function packument(name: string, versions: number, filler: (at: number) => string, time: string): UpstreamBody {
  function* text(): Generator<string> {
    yield `{"name":"${name}","dist-tags":{"latest":"1.0.${versions - 1}"},"time":{"created":"${time}"`;
    for (let at = 0; at < versions; at += 1) yield `,"1.0.${at}":"${time}"`;
    yield `},"versions":{`;
    for (let at = 0; at < versions; at += 1) {
      const dist = `{"tarball":"http://127.0.0.1/${name}.tgz","shasum":"${String(at).padStart(40, "0")}"}`;
      yield `${at === 0 ? "" : ","}"1.0.${at}":{"name":"${name}","version":"1.0.${at}","dist":${dist}${filler(at)}}`;
    }
    yield "}}";
  }
  return { type: "application/json", body: pieces(text(), 64 * 1024) };
}

function* pieces(texts: Iterable<string>, chars: number): Generator<string> {
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < chars) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

const OLD = "2020-01-01T00:00:00.000Z";
const WORDS = Array.from({ length: 600 }, (_, at) => `"key-${at}":"^${at}.0.0"`).join(",");
/** Versions of 38 KiB with what packages have: names and ranges. */
function large(versions: number): (path: string) => UpstreamBody | undefined {
  const filler = `,"dependencies":{${WORDS}},"deps":{${WORDS}},"more":{${WORDS}}`;
  return (path) => (path.startsWith("/n") ? packument(path.slice(1), versions, () => filler, OLD) : undefined);
}
/** So many versions that say little, and are new. */
function many(versions: number): (path: string) => UpstreamBody | undefined {
  return (path) =>
    path.startsWith("/n") ? packument(path.slice(1), versions, () => "", new Date().toISOString()) : undefined;
}
const LICENSES = (path: string): UpstreamBody | undefined =>
  path.startsWith("/n")
    ? packument(path.slice(1), 45_000, (at) => `,"license":"${at} ${"Apache MIT BSD ".repeat(19)}"`, OLD)
    : undefined;

function mavenMetadata(versions: number): (path: string) => UpstreamBody | undefined {
  return (path) => {
    const [, artifactId] = /^\/org\/example\/(n\d+)\/maven-metadata\.xml$/.exec(path) ?? [];
    if (artifactId === undefined) return undefined;
    function* text(): Generator<string> {
      yield `<metadata><groupId>org.example</groupId><artifactId>${artifactId}</artifactId><versioning><versions>`;
      for (let at = 0; at < versions; at += 1) yield `<version>1.${at % 997}.${at}-rc</version>`;
      yield "</versions></versioning></metadata>";
    }
    return { type: "text/xml", body: pieces(text(), 64 * 1024) };
  };
}

function links(files: number): (path: string) => UpstreamBody | undefined {
  return (path) => {
    const [, project] = /^\/(n\d+)\/$/.exec(path) ?? [];
    if (project === undefined) return undefined;
    function* text(): Generator<string> {
      yield "<!DOCTYPE html><html><body>";
      for (let at = 0; at < files; at += 1) yield `<a href="${project}-1.${at}.tar.gz">${at}</a>\n`;
      yield "</body></html>";
    }
    return { type: "text/html", body: pieces(text(), 64 * 1024) };
  };
}

/** A list of so many files in JSON. */
function listOf(files: number): (path: string) => UpstreamBody | undefined {
  return (path) => {
    const [, project] = /^\/(n\d+)\/$/.exec(path) ?? [];
    if (project === undefined) return undefined;
    function* text(): Generator<string> {
      yield `{"meta":{"api-version":"1.0"},"name":"${project}","files":[`;
      for (let at = 0; at < files; at += 1) {
        const name = `${project}-1.${at}-py3-none-any.whl`;
        const hashes = `{"sha256":"${String(at).padStart(64, "0")}"}`;
        yield `${at === 0 ? "" : ","}{"filename":"${name}","url":"${name}","hashes":${hashes},"size":1}`;
      }
      yield "]}";
    }
    return { type: "application/vnd.pypi.simple.v1+json", body: pieces(text(), 64 * 1024) };
  };
}

/** Documents of other registries. */
const FROM_UPSTREAMS: readonly HeavyInput[] = [
  asked({
    title: "an npm packument of 55 MiB",
    ecosystem: "npm",
    path: (name) => name,
    answer: large(1_400),
  }),
  asked({
    title: "one version of an npm packument of 8 MiB",
    ecosystem: "npm",
    path: (name) => `${name}/latest`,
    answer: large(200),
  }),
  asked({
    title: "tags of an npm package of 20,000 versions under a cooldown",
    ecosystem: "npm",
    policy: { cooldown: "604800s" },
    statuses: [409, 503],
    path: (name) => `-/package/${name}/dist-tags`,
    answer: many(20_000),
  }),
  asked({
    title: "an npm package of 100,000 versions without a policy",
    ecosystem: "npm",
    headers: { accept: "application/vnd.npm.install-v1+json" },
    path: (name) => name,
    answer: many(100_000),
  }),
  asked({
    title: "an npm package of 45,000 licenses under a rule about licenses",
    ecosystem: "npm",
    policy: { cooldown: "0s", deniedLicenses: ["AGPL-*"], unknownLicense: "UNKNOWN_LICENSE_BLOCK" },
    statuses: [409, 503],
    path: (name) => name,
    answer: LICENSES,
  }),
  asked({
    title: "maven-metadata.xml of 400,000 versions",
    ecosystem: "maven",
    statuses: [502, 503],
    path: (name) => `-/org/example/${name}/maven-metadata.xml`,
    answer: mavenMetadata(400_000),
  }),
  asked({
    title: "maven-metadata.xml of 50,000 versions",
    ecosystem: "maven",
    path: (name) => `-/org/example/${name}/maven-metadata.xml`,
    answer: mavenMetadata(50_000),
  }),
  asked({
    title: "a page of 500,000 links to Python files",
    ecosystem: "pypi",
    statuses: [502, 503],
    path: (name) => `simple/${name}/`,
    answer: links(500_000),
  }),
  asked({
    title: "a list of 60,000 Python files in JSON",
    ecosystem: "pypi",
    path: (name) => `simple/${name}/`,
    answer: listOf(60_000),
  }),
];

const tarball = gzipSync("no archive");
const SPACES = " ".repeat(1_000);

/** The POM of a version with so many elements that say nothing. */
function pomOf(artifactId: string, elements: number): string {
  const own = `<groupId>org.example</groupId><artifactId>${artifactId}</artifactId><version>1.0</version>`;
  return `<project>${own}<x>${"<a/>".repeat(elements)}</x></project>`;
}

function published(name: string, more: string): string {
  const document = JSON.stringify(publishDocument(name, "1.0.0", { tarball }));
  return `${document.slice(0, -1)},"more":${more}}`;
}

/** A form as twine sends it. Source: RFC 7578. */
function form(fields: readonly (readonly [string, string])[], file: { name: string; bytes: Uint8Array }): Buffer {
  const parts = fields.map(
    ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--b\r\ncontent-disposition: form-data; name="content"; filename="${file.name}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(parts.join("") + head), file.bytes, Buffer.from("\r\n--b--\r\n")]);
}

function wheel(name: string, metadata: string, more: number): { name: string; bytes: Buffer } {
  const info = `${name}-1.0.dist-info/METADATA`;
  const head = `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`;
  const others = Array.from({ length: more }, (_, at) => ({ name: `f/${at}`, content: "" }));
  const bytes = zipOf([...others, { name: info, content: head + metadata }]);
  return { name: `${name}-1.0-py3-none-any.whl`, bytes };
}

function uploaded(
  group: string,
  { metadata = "", more = 0, fields = [] as [string, string][] },
): {
  path: string;
  body: Buffer;
  headers: Record<string, string>;
  file: Buffer;
} {
  const name = fresh();
  const own: [string, string][] = [
    [":action", "file_upload"],
    ["name", name],
    ["version", "1.0"],
  ];
  const file = wheel(name, metadata, more);
  return {
    path: `/pypi/${group}/legacy/`,
    file: file.bytes,
    body: form([...own, ...fields], file),
    headers: { "content-type": "multipart/form-data; boundary=b" },
  };
}

let archive: ReturnType<typeof uploaded> | undefined;

/** An upload of a wheel with 60,000 files, which takes long to make. */
function manyFiles(): ReturnType<typeof uploaded> {
  return (archive ??= uploaded("", { more: 60_000 }));
}

/** What clients send. */
const FROM_CLIENTS: readonly HeavyInput[] = [
  sent({
    title: "an npm publish with 21 MiB of empty lists beside the tarball",
    statuses: [413, 503],
    pings: 1,
    method: "PUT",
    body(group) {
      const name = fresh();
      return { path: `/npm/${group}/${name}`, body: published(name, `[${"[],".repeat(7 * MIB)}[]]`) };
    },
  }),
  sent({
    title: "an npm publish with 24 MiB of text beside the tarball",
    statuses: [201, 503],
    method: "PUT",
    body(group) {
      const name = fresh();
      return { path: `/npm/${group}/${name}`, body: published(name, `"${"text ".repeat(4.8 * MIB)}"`) };
    },
  }),
  sent({
    title: "npm deprecating 100,000 versions",
    statuses: [413, 503],
    method: "PUT",
    body(group) {
      const name = fresh();
      const versions = Array.from({ length: 100_000 }, (_, at) => `"1.0.${at}":{"name":"${name}","deprecated":"no"}`);
      return { path: `/npm/${group}/${name}`, body: `{"name":"${name}","versions":{${versions.join(",")}}}` };
    },
  }),
  sent({
    title: "an npm audit of 20,000 packages of five versions",
    statuses: [200, 503],
    pings: 1,
    method: "POST",
    body(group) {
      const versions = JSON.stringify(Array.from({ length: 5 }, (_, at) => `1.${at}.0`));
      const asking = Array.from({ length: 20_000 }, (_, at) => `"package-${at}":${versions}`);
      return {
        path: `/npm/${group}/-/npm/v1/security/advisories/bulk`,
        body: gzipSync(`{${asking.join(",")}}`),
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
      };
    },
  }),
  sent({
    title: "a POM of 480,000 elements",
    statuses: [201, 503],
    method: "PUT",
    body(group) {
      const name = fresh();
      return { path: `/maven/${group}/-/org/example/${name}/1.0/${name}-1.0.pom`, body: pomOf(name, 480_000) };
    },
  }),
  sent({
    title: "a jar of 60,000 files",
    statuses: [201],
    method: "PUT",
    body(group) {
      const name = fresh();
      return { path: `/maven/${group}/-/org/example/${name}/1.0/${name}-1.0.jar`, body: manyFiles().file };
    },
  }),
  sent({
    title: "a wheel with metadata of 8 MiB",
    statuses: [200, 503],
    method: "POST",
    body: (group) => uploaded(group, { metadata: `Classifier: License :: ${SPACES}\u2028x\n`.repeat(7_900) }),
  }),
  sent({
    title: "a wheel of 60,000 files",
    statuses: [200],
    method: "POST",
    // The same wheel each time: it is read again, though nothing comes of it.
    body: (group) => ({ ...manyFiles(), path: `/pypi/${group}/legacy/` }),
  }),
  sent({
    title: "an upload form of 2,000 fields",
    statuses: [200],
    pings: 1,
    method: "POST",
    body: (group) =>
      uploaded(group, {
        fields: Array.from({ length: 1_990 }, (_, at): [string, string] => [`field-${at}`, "x".repeat(3_000)]),
      }),
  }),
];

/** An npm package of the group itself with many versions: each publish has its packument made anew. */
const OWN: HeavyInput = {
  title: "an npm package of 3,000 own versions",
  statuses: [200],
  async prepare(world) {
    const { uid: group, name: path } = world.organization;
    const name = fresh();
    const document = JSON.stringify(publishDocument(name, "1.0.0", { tarball }));
    const put = await world.send("PUT", `/npm/${path}/${name}`, { token: world.registry, body: document });
    if (put.status !== 201) throw new Error(put.text);
    const dependencies = JSON.parse(`{${WORDS}}`) as object;
    await world.write(async (db) => {
      const artifact = await db
        .selectFrom("artifacts")
        .selectAll()
        .where("parent", "=", group)
        .where("name", "=", name)
        .executeTakeFirstOrThrow();
      const [row] = await db.selectFrom("artifact_versions").selectAll().where("parent", "=", artifact.uid).execute();
      if (row === undefined) throw new Error("nothing was published");
      for (let at = 1; at < 3_000; at += 1) {
        const version = `1.0.${at}`;
        const sum = createHash("sha1").update(version).digest("hex");
        const manifest = { name, version, dependencies, dist: { shasum: sum } };
        await db
          .insertInto("artifact_versions")
          .values({
            ...row,
            uid: `${artifact.uid}/${String(at).padStart(16, "0")}`,
            version,
            sort_key: `${row.sort_key}${String(at).padStart(6, "0")}`,
            metadata: JSON.stringify(manifest),
          })
          .execute();
      }
    });
    let tag = 0;
    return async (began) => {
      // Another revision: what was made of the one before is of no use.
      const change = { token: world.registry, body: '"1.0.0"' };
      await world.send("PUT", `/npm/${path}/-/package/${name}/dist-tags/t${(tag += 1)}`, change);
      return await world.send("GET", `/npm/${path}/${name}`, {
        token: world.registry,
        ...(began !== undefined && { began }),
      });
    };
  },
};

export const LIBRARIES: readonly HeavyInput[] = [...FROM_UPSTREAMS, ...FROM_CLIENTS, OWN];
