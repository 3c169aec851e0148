import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { zipOf } from "../../../server/test/support/catalog/archives.ts";
import { newRepoPlace } from "../../../server/test/support/catalog/place.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { ECOSYSTEMS, lineOf, type Named, named } from "../../../server/test/support/compared/package-names.ts";
import { osvPackages, trivyPackages } from "../../../server/test/support/compared/programs.ts";
import { WRITTEN } from "../../../server/test/support/compared/made-images.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { temporaryFolder } from "../../../server/test/support/installation.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Images of many kinds: what is in them against trivy-cdxgen, which reads the same files, and against osv-scanner,
// which reads lock files with the same packages; and what records of OSV find in them, by Moorage and by osv-scanner.

/** The programs, and the folder of the kinds that are fetched; `.ci/compare.sh` brings them. */
const SCANNER = process.env["MOORAGE_TEST_OSV_SCANNER"] ?? "";
const TRIVY = process.env["MOORAGE_TEST_TRIVY"] ?? "";
const FETCHED = process.env["MOORAGE_TEST_COMPARED_IMAGES"] ?? "";
const skip =
  SCANNER === "" || TRIVY === "" || FETCHED === "" ? "compares with other programs: run .ci/compare.sh" : false;

interface Explained {
  kinds: readonly string[];
  /** Which list has it, and which has not. */
  only: "ours, not Trivy's" | "Trivy's, not ours" | "ours, not osv-scanner's" | "osv-scanner's, not ours" | "findings";
  line: RegExp;
  why: string;
}

const LANGUAGES = "npm pnpm yarn python java rust debian-languages composer dotnet conda".split(" ");
/** Why lists differ. A difference that no row explains fails the test, and so does a row that explains none. */
const EXPLAINED: readonly Explained[] = [
  {
    kinds: LANGUAGES,
    only: "ours, not Trivy's",
    line: /^/,
    why: "trivy-cdxgen reads packages of distributions and programs of Go alone",
  },
  {
    kinds: ["go"],
    only: "ours, not Trivy's",
    line: /^Go github\.com\/\S*[A-Z]/,
    why: "it writes paths of modules in lower case, although Go distinguishes them",
  },
  {
    kinds: ["go"],
    only: "Trivy's, not ours",
    line: /^Go github\.com\/(?:burntsushi|cyclonedx|protonmail)\//,
    why: "the same modules, in lower case",
  },
  {
    kinds: ["rust"],
    only: "osv-scanner's, not ours",
    line: /^crates\.io (?:proc-macro2|quote|serde_derive|syn|unicode-ident) /,
    why: "the lock file has what only the build runs, and cargo-auditable says that the program has none of it",
  },
  {
    kinds: ["rust"],
    only: "findings",
    line: /^theirs: \w+ crates\.io (?:proc-macro2|quote|serde_derive|syn|unicode-ident) /,
    why: "records about what only the build runs",
  },
  {
    kinds: ["yarn"],
    only: "osv-scanner's, not ours",
    line: /^npm shop 0\.0\.0-use\.local$/,
    why: "the project itself, to which Yarn gives this version",
  },
  {
    kinds: ["yarn"],
    only: "findings",
    line: /^theirs: \w+ npm shop 0\.0\.0-use\.local$/,
    why: "records about the project itself",
  },
  {
    kinds: ["alpine"],
    only: "findings",
    line: /^theirs: \w+ Alpine:v3\.20 (?:libcrypto3|ssl_client) /,
    why: "records of Alpine name the origin of a package, and osv-scanner looks for its own name",
  },
  {
    kinds: ["composer"],
    only: "ours, not osv-scanner's",
    line: /^Packagist twig\/twig /,
    why: "names of Packagist are the same in any case; purls have them in lower case",
  },
  {
    kinds: ["composer"],
    only: "osv-scanner's, not ours",
    line: /^Packagist Twig\/Twig /,
    why: "the same package, as its file spells it",
  },
];

let platform: Platform;
before(async () => {
  if (skip === false) platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
});
after(() => platform?.close());

/** The folder of a kind with its root, and what osv-scanner is to read. */
interface Image {
  root: string;
  locks: readonly string[];
}

function fetched(kind: string): Image {
  const locks = readFileSync(path.join(FETCHED, kind, "locks"), "utf8")
    .trim()
    .split("\n");
  return { root: path.join(FETCHED, kind, "root"), locks };
}

function written(kind: string, folder: string): Image {
  const { files = [], locks = {} } = WRITTEN[kind] ?? {};
  const put = (file: string, content: string | Uint8Array): string => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  for (const { path: file, content = "" } of files) put(path.join(folder, "root", file), content);
  return {
    root: path.join(folder, "root"),
    locks: Object.entries(locks).map(([parser, text]) => `${parser}:${put(path.join(folder, "locks", parser), text)}`),
  };
}

const kinds = skip === false && existsSync(FETCHED) ? readdirSync(FETCHED, { withFileTypes: true }) : [];
const KINDS = [...kinds.filter((each) => each.isDirectory()).map(({ name }) => name), ...Object.keys(WRITTEN)];
const used = new Set<Explained>();

for (const kind of KINDS)
  test(`an image of the kind ${kind} holds what other programs find in it`, { skip, timeout: 300_000 }, async (t) => {
    const folder = temporaryFolder(t);
    const { root, locks } = kind in WRITTEN ? written(kind, folder) : fetched(kind);
    const { repo, digest } = await push(kind, root);
    const components = await componentsOf(repo, digest);
    const differences: string[] = [];
    const compare = ({
      only,
      lines,
      others,
    }: {
      only: Explained["only"];
      lines: readonly string[];
      others: readonly string[];
    }): void => {
      const known = new Set(others);
      for (const line of new Set(lines)) {
        if (known.has(line)) continue;
        const row = EXPLAINED.find((each) => each.only === only && each.kinds.includes(kind) && each.line.test(line));
        if (row === undefined) differences.push(`${only}: ${line}`);
        else {
          used.add(row);
          t.diagnostic(`${only}: ${line}: ${row.why}`);
        }
      }
    };

    const trivy = trivyPackages(TRIVY, root, folder).map(lineOf);
    const ours = components.map(withSource).map(lineOf);
    compare({ only: "ours, not Trivy's", lines: ours, others: trivy });
    compare({ only: "Trivy's, not ours", lines: trivy, others: ours });

    if (locks.length > 0) {
      const database = path.join(folder, "database");
      putRecordFiles(database, [...PLACEHOLDERS]);
      const first = osvPackages(SCANNER, locks, database, path.join(folder, "packages.json"));
      const theirs = first.map(lineOf);
      const sources = components.map((each) => lineOf(asOsv(each, first)));
      compare({ only: "ours, not osv-scanner's", lines: sources, others: theirs });
      compare({ only: "osv-scanner's, not ours", lines: theirs, others: sources });

      const records = recordsAbout(kind, first);
      putRecordFiles(database, records);
      await putRecords(
        platform,
        kind,
        "osv",
        records.map(({ body }) => osvOf(body.id, body)),
      );
      const found = osvPackages(SCANNER, locks, database, path.join(folder, "findings.json"));
      const hits = [...new Set(found.flatMap((each) => each.records))].toSorted();
      await eventually(areAllCompared);
      const own = await findingsOf(repo, digest, kind);
      const titles = new Map(records.map(({ body, title }) => [body.id, title]));
      const titled = (ids: readonly string[]): string[] => ids.map((id) => titles.get(id) ?? id);
      compare({
        only: "findings",
        lines: titled(own).map((line) => `ours: ${line}`),
        others: titled(hits).map((line) => `ours: ${line}`),
      });
      compare({
        only: "findings",
        lines: titled(hits).map((line) => `theirs: ${line}`),
        others: titled(own).map((line) => `theirs: ${line}`),
      });
      t.diagnostic(
        `${components.length} packages, ${trivy.length} of Trivy, ${first.length} of osv-scanner, ${hits.length} findings`,
      );
    } else t.diagnostic(`${components.length} packages, ${trivy.length} of Trivy`);
    assert.ok(components.length > 0);
    assert.deepEqual(differences, []);
  });

test("each row of the explained differences explains one", { skip }, () => {
  const unused = EXPLAINED.filter((row) => !used.has(row) && row.kinds.some((kind) => KINDS.includes(kind)));
  assert.deepEqual(
    unused.map(({ only, line }) => `${only}: ${line}`),
    [],
  );
});

const MAX_LAYER_BYTES = 512 << 20;

async function push(kind: string, root: string): Promise<{ repo: string; digest: string }> {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token);
  const layer = execFileSync("tar", ["-C", root, "-c", "."], { maxBuffer: MAX_LAYER_BYTES });
  return { repo: place.repo, digest: await pushLayers(place, kind, [layer]) };
}

interface Component {
  name: string;
  version: string;
  purl?: string;
  properties?: { name: string; value: string }[];
}

async function componentsOf(repo: string, digest: string): Promise<Component[]> {
  const bearer = { token: await platform.token() };
  const sbom = `/registry/v2/repos/${repo}/digests/${digest}/sbom`;
  return await eventually(async () => {
    const { status, body, text } = await platform.call("GET", sbom, bearer);
    if (status === 200) return (body["document"] as { components: Component[] }).components;
    assert.match(text, /waits to be read/);
    return undefined;
  });
}

const DISTRIBUTIONS = /^pkg:(?:deb|apk|rpm)\//;
const sourceOf = ({ name, version, properties = [] }: Component): string =>
  properties.find((each) => each.name === "moorage:source")?.value ?? `${name}@${version}`;

/** As Trivy lists it. */
function withSource(component: Component): Named {
  const { purl = "", name, version } = component;
  if (!DISTRIBUTIONS.test(purl)) return named(purl);
  return { ecosystem: "distribution", name, version, source: sourceOf(component) };
}

/** As osv-scanner lists it: packages of Debian by their sources, with the release that it has for all of them. */
function asOsv(component: Component, theirs: readonly Named[]): Named {
  const { purl = "", name, version } = component;
  const type = /^pkg:([^/]+)/.exec(purl)?.[1] ?? "";
  const ecosystem = theirs.find((each) => /^(?:Debian|Alpine)/.test(each.ecosystem))?.ecosystem ?? "";
  const source = sourceOf(component);
  const cut = source.lastIndexOf("@");
  if (type === "deb") return { ecosystem, name: source.slice(0, cut), version: source.slice(cut + 1) };
  return type === "apk" ? { ecosystem, name, version } : named(purl);
}

interface About {
  ecosystem: string;
  title: string;
  body: { id: string; modified: string; affected: object[] };
}

const RELEASES = ["Debian:12", "Debian:13", "Alpine:v3.20"];
/** osv-scanner lists nothing of an ecosystem of which it has no record at all. */
const PLACEHOLDERS = [...Object.values(ECOSYSTEMS), ...RELEASES].map((ecosystem): About => ({
  ecosystem,
  title: "",
  body: { id: "ACME-0", modified: "2026-11-01T00:00:00Z", affected: [{ package: { ecosystem, name: "nothing" } }] },
}));

/** Puts records where osv-scanner looks for them without a network. */
function putRecordFiles(database: string, records: readonly About[]): void {
  for (const [ecosystem, some] of Map.groupBy(records, (record) => record.ecosystem)) {
    const folder = path.join(database, "osv-scanner", ecosystem);
    mkdirSync(folder, { recursive: true });
    const files = some.map(({ body }) => [`${body.id}.json`, JSON.stringify(body)]);
    writeFileSync(path.join(folder, "all.zip"), zipOf(Object.fromEntries(files)));
  }
}

/** Records about each package: one lists its version, others have ranges that begin, end or are fixed with it. */
function recordsAbout(kind: string, packages: readonly Named[]): About[] {
  return packages.flatMap(({ ecosystem, name, version }, n): About[] => {
    const range = (...events: object[]): object => ({
      ranges: [{ type: ecosystem === "Go" || ecosystem === "npm" ? "SEMVER" : "ECOSYSTEM", events }],
    });
    return Object.entries({
      listed: { versions: [version] },
      fixed: range({ introduced: "0" }, { fixed: version }),
      introduced: range({ introduced: version }),
      last: range({ introduced: "0" }, { last_affected: version }),
    }).map(([title, affected]) => ({
      ecosystem,
      title: `${title} ${ecosystem} ${name} ${version}`,
      body: {
        id: `ACME-${kind}-${n}-${title}`,
        modified: "2026-11-01T00:00:00Z",
        affected: [{ package: { ecosystem, name }, ...affected }],
      },
    }));
  });
}

/** Whether all records have been compared with all packages. */
const areAllCompared = (): Promise<boolean> =>
  platform.transact(async (tx) => {
    const last = await tx.selectFrom("feed_changes").select("value").executeTakeFirstOrThrow();
    const state = await tx.selectFrom("matching").select("value").where("name", "=", "changes").executeTakeFirst();
    return Number(state?.value ?? 0) >= Number(last.value);
  });

/** The ids of the records of the kind's feed that find something. */
async function findingsOf(repo: string, digest: string, kind: string): Promise<string[]> {
  const bearer = { token: await platform.token() };
  const found = new Set<string>();
  let token = "";
  do {
    const query = `repo=${repo}&digest=${digest}&page_size=500&page_token=${encodeURIComponent(token)}`;
    const answer = await platform.ok("GET", `/vulnerabilities/v2/findings?${query}`, bearer);
    const findings = (answer["findings"] ?? []) as { records: { feed: string; id: string }[] }[];
    for (const { feed, id } of findings.flatMap(({ records }) => records)) if (feed === kind) found.add(id);
    token = (answer["nextPageToken"] as string | undefined) ?? "";
  } while (token !== "");
  return [...found].toSorted();
}
