import { escaped, type Page } from "@moorage/platform/auth";
import { type CommandFiles, EXECUTABLES, SCRIPTS } from "./files.ts";

/** What the page says of a file. */
interface Described {
  name: string;
  size: number;
  sha256: string;
  version: string | undefined;
}

/** The page that says how to get the command from the server at this URL, as far as the server has it. */
export async function commandPage(files: CommandFiles, url: string): Promise<Page> {
  const all = await Promise.all([...SCRIPTS, ...EXECUTABLES].map((name) => described(files, name)));
  const there = new Map(all.filter((one) => one !== undefined).map((one) => [one.name, one]));
  const parts = [...scripts(there, url), ...executables(there, url), ...table(there)];
  const body = `<p>The command line of this registry, <code>moorage</code>, from the registry itself.</p>\n${parts.join("\n")}`;
  return { status: 200, title: "Get the command", body };
}

async function described(files: CommandFiles, name: string): Promise<Described | undefined> {
  const file = await files.open(name);
  if (file === undefined) return undefined;
  await file.handle.close();
  return { name, size: file.size, sha256: file.sha256, version: await files.version(name) };
}

function scripts(there: ReadonlyMap<string, Described>, url: string): string[] {
  if (!there.has("moorage"))
    return [
      "<p>This server has no command to hand out: it was started from its sources, and the command was not made. " +
        "<code>npm run command</code> in that clone makes it, and so does <code>npm start</code>.</p>",
    ];
  return [
    "<h2>Linux and macOS, with Node 22 or later</h2>",
    lines(fetching(url, "moorage", "moorage"), `./moorage login --url ${url}`),
    "<h2>Windows, and wherever npm is</h2>",
    lines(`npm install --global --registry ${url}/npm/-/moorage/ moorage`, `moorage login --url ${url}`),
    "<h2>docker, podman and helm that log in by themselves</h2>",
    lines(fetching(url, "docker-credential-moorage", "docker-credential-moorage"), "moorage auth configure-docker"),
    "<p>Put both files into a folder of your <code>PATH</code>. npm has done that already.</p>",
    "<h2>Is it the right file?</h2>",
    lines(`curl -fsSL ${url}/cli/moorage.sha256 | sha256sum --check`, "moorage --version"),
  ];
}

function executables(there: ReadonlyMap<string, Described>, url: string): string[] {
  const found = EXECUTABLES.filter((name) => there.has(name));
  if (found.length === 0) return ["<p>This server hands out no executables for machines without Node.</p>"];
  return found.flatMap((name) => [
    `<h2>Linux on ${name.endsWith("arm64") ? "64-bit Arm" : "x86-64"}, without Node</h2>`,
    lines(fetching(url, name, "moorage"), `./moorage login --url ${url}`),
  ]);
}

function fetching(url: string, file: string, name: string): string {
  return `curl -fsSLo ${name} ${url}/cli/${file} && chmod +x ${name}`;
}

function lines(...commands: string[]): string {
  return `<pre>${escaped(commands.join("\n"))}</pre>`;
}

function table(there: ReadonlyMap<string, Described>): string[] {
  if (there.size === 0) return [];
  const rows = [...there.values()].map(
    ({ name, size, sha256, version = "not known" }) =>
      `<li><a href="/cli/${name}">${name}</a>: version ${escaped(version)}, ${size} bytes, SHA-256 <code>${sha256}</code></li>`,
  );
  return [`<h2>The files</h2>\n<ul>\n${rows.join("\n")}\n</ul>`];
}
