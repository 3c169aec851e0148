// .ci/libraries-peers.sh: sends the same requests to Moorage, to verdaccio and to devpi-server, and compares what they
// answer with docs/libraries-peers.md, which says why answers differ. `--write` writes that document.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SOURCES } from "../../bench/installation.ts";
import { type LibraryPeer, startDevpi, startVerdaccio } from "../../bench/library-peers.ts";
import { startMoorage } from "../../bench/moorage.ts";
import { stopAll } from "../../bench/processes.ts";
import type { Registry } from "../../bench/registries.ts";
import type { Case, Place } from "./ask.ts";
import { NPM_CASES } from "./npm-cases.ts";
import { PYPI_CASES, type PypiPlace } from "./pypi-cases.ts";

const DOCUMENT = fileURLToPath(new URL("../../docs/libraries-peers.md", import.meta.url));
const NOT_RUN = 77;

/** The answers to a case; `problem`: a difference that nothing explains, or the other way round. */
interface Compared {
  of: Case;
  ours: string;
  theirs: string;
  problem?: string;
}

async function compare(cases: readonly Case[], ours: Place, theirs: Place): Promise<Compared[]> {
  const compared: Compared[] = [];
  for (const of of cases) {
    const [own, other] = [await of.ask(ours), await of.ask(theirs)];
    const isSame = own === other;
    const problem =
      isSame && of.because !== undefined
        ? "the answers are the same, and a difference is explained"
        : !isSame && of.because === undefined
          ? "nothing explains why the answers differ"
          : undefined;
    compared.push({ of, ours: own, theirs: other, ...(problem !== undefined && { problem }) });
  }
  return compared;
}

function table(peer: string, compared: readonly Compared[]): string {
  const cell = (text: string): string => text.replaceAll("|", "\\|");
  const differ = compared.filter(({ of }) => of.because !== undefined);
  const rows = differ.map(({ of, ours, theirs }) => [of.title, ours, theirs, of.because ?? ""].map(cell).join(" | "));
  const same = compared.filter(({ of }) => of.because === undefined);
  return [
    `| request | Moorage | ${peer} | why |`,
    "|---|---|---|---|",
    ...rows.map((row) => `| ${row} |`),
    "",
    `The same from both:`,
    "",
    ...same.map(({ of, ours }) => `- ${of.title}: ${ours}`),
  ].join("\n");
}

function documentOf(npm: string, pypi: string, versions: { verdaccio: string; devpi: string }): string {
  return `# What other registries answer

The same requests to Moorage, to [verdaccio](https://verdaccio.org) ${versions.verdaccio} for npm, and to
[devpi-server](https://devpi.net) ${versions.devpi} for PyPI, each with its own credentials and nothing in it before.
\`.ci/libraries-peers.sh\` sends them and compares the answers with this document, so that neither a difference nor its
reason is out of date; with \`--write\` it writes the document. The requests and the reasons are in
\`scripts/libraries-peers/\`.

## npm

${npm}

## PyPI

${pypi}
`;
}

const credentials = ({ authorization }: Registry): string => authorization.slice("authorization: ".length).trim();

async function run(folder: string): Promise<number> {
  const verdaccio = await startVerdaccio(folder, { authenticated: true });
  const devpi = await startDevpi(folder, { authenticated: true });
  if (verdaccio === undefined || devpi === undefined) {
    process.stderr.write("not run: .ci/tools.sh verdaccio devpi-server installs what is missing\n");
    return NOT_RUN;
  }
  const moorage = await startMoorage({ launcher: SOURCES, dataDir: join(folder, "moorage"), env: {} });
  const ours = (key: string): Place => ({
    name: "moorage",
    port: moorage.port,
    base: `/${key}/${moorage.organization.name}`,
    authorization: credentials(moorage.platform),
  });
  const theirs = ({ name, port, base, ...of }: LibraryPeer): Place => {
    return { name, port, base, authorization: credentials({ name, port, ...of }) };
  };
  const pypi = (place: Place, simple: string, upload: string): PypiPlace => ({ ...place, simple, upload });
  const npm = await compare(NPM_CASES, ours("npm"), theirs(verdaccio));
  const python = await compare(
    PYPI_CASES,
    pypi(ours("pypi"), "/simple", "/legacy/"),
    pypi(theirs(devpi), "/+simple", "/"),
  );
  const tables = [table("verdaccio", npm), table("devpi-server", python)] as const;
  const text = documentOf(...tables, { verdaccio: verdaccio.version, devpi: devpi.version });
  process.stdout.write(`${text}\n`);
  const problems = [...npm, ...python].filter(({ problem }) => problem !== undefined);
  for (const { of, ours: own, theirs: other, problem } of problems)
    process.stderr.write(`${of.title}: ${problem}: ${own} / ${other}\n`);
  if (problems.length > 0) return 1;
  if (process.argv.includes("--write")) writeFileSync(DOCUMENT, text);
  else if (readFileSync(DOCUMENT, "utf8") !== text) {
    process.stderr.write("docs/libraries-peers.md says something else: .ci/libraries-peers.sh --write, and read it\n");
    return 1;
  }
  process.stdout.write(`${npm.length + python.length} requests compared\n`);
  return 0;
}

const folder = mkdtempSync(join(tmpdir(), "moorage-peers-"));
try {
  process.exitCode = await run(folder);
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
