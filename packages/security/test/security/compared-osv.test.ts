import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { type Affected, compileAffected, isAffected } from "../../src/security/matching/affected-ranges.ts";
import { packageKey, versionOrder } from "../../src/security/matching/package-keys.ts";
import { allOf, realData } from "../../../server/test/support/feed-files.ts";
import { temporaryFolder } from "../../../server/test/support/installation.ts";

// What is found for real packages of PyPI and Go, against osv-scanner with the same records, without a network.

/** The program; `.ci/compare.sh` brings it. */
const SCANNER = process.env["MOORAGE_TEST_OSV_SCANNER"] ?? "";
const skip = SCANNER === "" ? "set MOORAGE_TEST_OSV_SCANNER to the path of osv-scanner 1.9.2" : false;

interface Component {
  ecosystem: string;
  name: string;
  version: string;
}
type OfPackage = Affected & { package: { ecosystem: string; name: string } };
interface OsvRecord {
  id: string;
  withdrawn?: string;
  aliases?: string[];
  affected?: OfPackage[];
}

interface Hit {
  record: OsvRecord;
  affected: OfPackage;
}

const BEHIND_COMMITS =
  "it looks at no range that stands behind one of commits, and the record does not list the version so";
const TOUCHING = "where one range ends and the next begins, it puts the events of the version in either order";
const SAME_ALIAS = "it leaves out a record that has an alias in common with one that it has found";

/** Why osv-scanner does not find what is found here. */
function reasonFor(
  { version }: Component,
  { record, affected }: Hit,
  known: ReadonlySet<string>,
  byId: ReadonlyMap<string, OsvRecord>,
): string | undefined {
  const types = (affected.ranges ?? []).map(({ type }) => type);
  const isListed = affected.versions?.includes(version) === true;
  if (types.includes("GIT") && types.indexOf("GIT") < types.length - 1 && !isListed) return BEHIND_COMMITS;
  const events = (affected.ranges ?? []).flatMap((range) => range.events ?? []);
  const fixed = new Set(events.flatMap((event) => event.fixed ?? []));
  if (events.some(({ introduced }) => introduced !== undefined && fixed.has(introduced)) && !isListed) return TOUCHING;
  const names = new Set([record.id, ...(record.aliases ?? [])]);
  for (const id of known) if ([id, ...(byId.get(id)?.aliases ?? [])].some((name) => names.has(name))) return SAME_ALIAS;
  return undefined;
}

const keyOf = ({ ecosystem, name }: Omit<Component, "version">): string => `${ecosystem} ${name}`;
const titleOf = ({ name, version }: Component): string => `${name}@${version}`;

/** Each `affected[]` with its record, by package. */
function byPackage(records: readonly OsvRecord[]): Map<string, Hit[]> {
  const found = new Map<string, Hit[]>();
  for (const record of records.filter(({ withdrawn }) => withdrawn === undefined))
    for (const affected of record.affected ?? []) {
      const key = keyOf(affected.package);
      found.set(key, [...(found.get(key) ?? []), { record, affected }]);
    }
  return found;
}

/** Versions of a package that records say something about: the ends of ranges, and some of the lists. */
function versionsOf(affected: readonly OfPackage[]): string[] {
  const ends = affected.flatMap(({ ranges }) =>
    (ranges ?? [])
      .filter(({ type }) => type !== "GIT")
      .flatMap(({ events }) => events ?? [])
      .flatMap(({ introduced, fixed, last_affected: last }) => [introduced, fixed, last])
      .filter((version) => version !== undefined && version !== "0"),
  ) as string[];
  const listed = affected.flatMap(({ versions }) => versions ?? []);
  const some = [listed[0], listed[listed.length >> 1], listed.at(-1)].filter((version) => version !== undefined);
  return [...new Set([...ends, ...some])].slice(0, MOST_VERSIONS);
}
const MOST_VERSIONS = 3;

test(
  "findings for packages of PyPI and Go are those of osv-scanner, but for what is explained",
  { skip, timeout: 300_000 },
  async (t) => {
    const [pypi, go] = [realData(t, "osv-pypi.zip"), realData(t, "osv-go.zip")];
    if (pypi === undefined || go === undefined) return;
    const folder = temporaryFolder(t);
    const records: OsvRecord[] = [];
    for (const [ecosystem, archive] of Object.entries({ PyPI: pypi, Go: go })) {
      mkdirSync(path.join(folder, "osv-scanner", ecosystem), { recursive: true });
      copyFileSync(archive, path.join(folder, "osv-scanner", ecosystem, "all.zip"));
      records.push(...(await allOf("osv", archive)).records.map(({ body }) => JSON.parse(body) as OsvRecord));
    }
    const packages = byPackage(records);
    const byId = new Map(records.map((record) => [record.id, record]));
    const components = [...packages].flatMap(([key, found]): Component[] => {
      const [ecosystem = "", name = ""] = key.split(" ");
      return versionsOf(found.map(({ affected }) => affected)).map((version) => ({ ecosystem, name, version }));
    });

    const input = path.join(folder, "osv-scanner.json");
    const output = path.join(folder, "results.json");
    writeFileSync(input, JSON.stringify({ results: [{ packages: components.map((each) => ({ package: each })) }] }));
    const { status, stderr } = spawnSync(
      SCANNER,
      [
        "--experimental-offline",
        `--experimental-local-db-path=${folder}`,
        "--format=json",
        `--output=${output}`,
        `--lockfile=osv-scanner:${input}`,
      ],
      { encoding: "utf8", timeout: 180_000, maxBuffer: 100 << 20 },
    );
    // 1: it has found something.
    assert.equal(status, 1, stderr.slice(-2_000));
    const { results } = JSON.parse(readFileSync(output, "utf8")) as {
      results: { packages: { package: Component; vulnerabilities?: { id: string }[] }[] }[];
    };
    const theirs = new Map<string, Set<string>>();
    for (const { package: each, vulnerabilities = [] } of results.flatMap((result) => result.packages))
      theirs.set(`${keyOf(each)} ${each.version}`, new Set(vulnerabilities.map(({ id }) => id)));

    const differences: string[] = [];
    const explained: Record<string, number> = {};
    let findings = 0;
    for (const component of components) {
      const order = versionOrder(packageKey(component) ?? "");
      assert.ok(order !== undefined);
      const known = theirs.get(`${keyOf(component)} ${component.version}`) ?? new Set();
      const ofPackage = packages.get(keyOf(component)) ?? [];
      const hits = ofPackage.filter(
        ({ affected }) => isAffected(compileAffected(order, affected), component.version).isAffected,
      );
      findings += hits.length;
      for (const hit of hits.filter(({ record }) => !known.has(record.id))) {
        const why = reasonFor(component, hit, known, byId);
        if (why === undefined) differences.push(`${titleOf(component)} ${hit.record.id}: ours`);
        else explained[why] = (explained[why] ?? 0) + 1;
      }
      const own = new Set(hits.map(({ record }) => record.id));
      for (const id of known) if (!own.has(id)) differences.push(`${titleOf(component)} ${id}: theirs`);
    }
    t.diagnostic(`${components.length} components, ${findings} findings, of which osv-scanner has not:`);
    for (const [why, count] of Object.entries(explained)) t.diagnostic(`${count}: ${why}`);
    assert.ok(components.length > 3_000 && findings > 8_000);
    assert.deepEqual(differences, []);
  },
);
