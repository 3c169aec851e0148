import type { Ecosystem } from "../../api/gen/libraries.ts";

/** What is known of a package when its lines are written. */
export interface PackagePlace {
  ecosystem: Ecosystem;
  /** Such as `https://registry.example.com`, without a slash at the end. */
  origin: string;
  /** The path of the group, such as `acme/team`. */
  group: string;
  name: string;
  version: string;
}

/** The lines of one client: what installs a package, and what is said once before. */
export interface InstallLines {
  client: string;
  install: string;
  /** What the setup does, such as `In .npmrc`. */
  setupLabel: string;
  setup: string;
  /** What stands before the line in a shell; empty for lines of a file. */
  prompt: string;
}

/**
 * The lines for the clients of the package's ecosystem, the usual one first. Names that a shell could read are quoted.
 */
export function installLines(place: PackagePlace): InstallLines[] {
  switch (place.ecosystem) {
    case "ECOSYSTEM_JAVASCRIPT":
      return npmLines(place);
    case "ECOSYSTEM_PYTHON":
      return pythonLines(place);
    case "ECOSYSTEM_JAVA":
      return mavenLines(place);
    default:
      return [];
  }
}

function npmLines({ origin, group, name, version }: PackagePlace): InstallLines[] {
  const what = quoted(`${name}@${version}`);
  const scope = /^(@[^/]+)\//.exec(name)?.[1];
  const setup = `${scope === undefined ? "" : `${scope}:`}registry=${origin}/npm/${group}/`;
  return [
    ["npm", `npm install ${what}`],
    ["pnpm", `pnpm add ${what}`],
    ["Yarn", `yarn add ${what}`],
    ["Bun", `bun add ${what}`],
  ].map(([client = "", install = ""]) => ({ client, install, setupLabel: "In .npmrc", setup, prompt: "$" }));
}

function pythonLines({ origin, group, name, version }: PackagePlace): InstallLines[] {
  const url = `${origin}/pypi/${group}/simple/`;
  const what = quoted(`${name}==${version}`);
  return [
    { client: "pip", install: `pip install ${what}`, setup: `pip config set global.index-url ${url}` },
    { client: "uv", install: `uv add ${what}`, setup: `export UV_DEFAULT_INDEX=${url}` },
    { client: "Poetry", install: `poetry add ${what}`, setup: `poetry source add moorage ${url}` },
  ].map((each) => ({ ...each, setupLabel: "Once", prompt: "$" }));
}

function mavenLines({ origin, group, name, version }: PackagePlace): InstallLines[] {
  const url = `${origin}/maven/${group}/-/`;
  const [groupId = "", artifactId = ""] = name.split(":");
  return [
    {
      client: "Maven",
      install: `<dependency>
  <groupId>${groupId}</groupId>
  <artifactId>${artifactId}</artifactId>
  <version>${version}</version>
</dependency>`,
      setupLabel: "In pom.xml, below repositories",
      setup: `<repository>\n  <id>moorage</id>\n  <url>${url}</url>\n</repository>`,
      prompt: "",
    },
    {
      client: "Gradle",
      install: `implementation("${name}:${version}")`,
      setupLabel: "In build.gradle.kts, below repositories",
      setup: `maven { url = uri("${url}") }`,
      prompt: "",
    },
  ];
}

/** The word as a shell takes it for one. */
function quoted(word: string): string {
  return /^[\w@/.:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
