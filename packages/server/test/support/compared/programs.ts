import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Named, named } from "./package-names.ts";

interface Component {
  name: string;
  version?: string;
  purl?: string;
  properties?: { name: string; value: string }[];
}

const TIMEOUT_MS = 120_000;

/** What trivy-cdxgen lists of a root: packages of distributions with their sources, and others by their purls. */
export function trivyPackages(program: string, root: string, folder: string): Named[] {
  const output = `${folder}/trivy.json`;
  const args = ["--quiet", "--cache-dir", `${folder}/cache`, "rootfs", "--output", output, root];
  execFileSync(program, args, { timeout: TIMEOUT_MS, stdio: "pipe" });
  const { components = [] } = JSON.parse(readFileSync(output, "utf8")) as { components?: Component[] };
  return components.flatMap((component): Named[] => {
    const of = (key: string): string =>
      component.properties?.find(({ name }) => name === `aquasecurity:trivy:${key}`)?.value ?? "";
    if (component.purl !== undefined && !/^pkg:(?:deb|apk|rpm)\//.test(component.purl)) return [named(component.purl)];
    if (of("SrcName") === "") return [];
    const [epoch, release] = [of("SrcEpoch"), of("SrcRelease")];
    const source = `${epoch === "" ? "" : `${epoch}:`}${of("SrcVersion")}${release === "" ? "" : `-${release}`}`;
    return [
      {
        ecosystem: "distribution",
        name: component.name,
        version: component.version ?? "",
        source: `${of("SrcName")}@${source}`,
      },
    ];
  });
}

/** What osv-scanner lists of files that it parses (`PARSER:FILE`), and the ids of the records that it finds. */
export function osvPackages(
  program: string,
  locks: readonly string[],
  database: string,
  output: string,
): (Named & { records: string[] })[] {
  const args = ["--experimental-offline", "--experimental-no-resolve", "--experimental-all-packages"];
  const { status, stderr } = spawnSync(
    program,
    [
      ...args,
      `--experimental-local-db-path=${database}`,
      "--format=json",
      `--output=${output}`,
      ...locks.map((lock) => `--lockfile=${lock}`),
    ],
    { encoding: "utf8", timeout: TIMEOUT_MS, maxBuffer: 100 << 20 },
  );
  // 1: it has found something.
  if (status !== 0 && status !== 1) throw new Error(`osv-scanner ended with ${status}: ${stderr.slice(-2_000)}`);
  const { results } = JSON.parse(readFileSync(output, "utf8")) as {
    results: { packages: { package: Named; vulnerabilities?: { id: string }[] }[] }[];
  };
  return results
    .flatMap(({ packages }) => packages)
    .map(({ package: { ecosystem, name, version }, vulnerabilities = [] }) => ({
      ecosystem,
      name,
      version,
      records: vulnerabilities.map(({ id }) => id).toSorted(),
    }));
}
