// `moorage auth configure-pip`: the index of a group, whose password pip gets from a `keyring` program when needed.
// Source: pip, "Configuration" and "Authentication".
import { existsSync } from "node:fs";
import { homedir, platform } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { INDEX_USER } from "../credential/keyring.ts";
import { type Edit, rewrite } from "./file.ts";
import { parseIni, PIP, settingOf, withSetting } from "./ini.ts";
import { addFolder } from "./options.ts";
import { addPackageCommand, addressOf, type PackageFlags } from "./packages.ts";
import { isFound, link } from "./programs.ts";

interface Flags extends PackageFlags {
  extra?: boolean;
  keyringDir?: string;
}

const SECTION = "global";
const PROVIDER = { key: "keyring-provider", value: "subprocess" };

/** Adds the command. */
export function addPip(auth: Command): void {
  const command = addPackageCommand(
    auth,
    "configure-pip",
    "have pip install from a group, and log in by itself",
    "pip",
  ).option("--extra", "beside the index that pip uses now: a name that both have can come from either");
  addFolder(
    command,
    "--keyring-dir <folder>",
    "put a program with the name keyring there, on the PATH, for pip to run",
  );
  command.action(configure);
}

async function configure(
  group: string,
  { file, remove, dryRun = false, extra, keyringDir, ...server }: Flags,
): Promise<void> {
  const index = new URL("simple/", addressOf("pypi", group, server));
  // Without a user name pip asks no keyring.
  index.username = INDEX_USER;
  const path = resolve(file ?? pipFile());
  const key = extra === true ? "extra-index-url" : "index-url";
  await rewrite(path, (text) => withIndex(path, text, key, index.href, remove !== true), { dryRun });
  if (remove === true) return;
  if (keyringDir !== undefined) link("moorage-keyring", resolve(keyringDir), "keyring", dryRun);
  if (!isFound("moorage-keyring", "keyring"))
    console.error(
      keyringDir === undefined
        ? "moorage: pip finds no keyring program of Moorage: --keyring-dir <folder> puts one into a folder of your PATH"
        : `moorage: pip does not find it yet: export PATH=${resolve(keyringDir)}:$PATH`,
    );
}

/** The file's text with or without the index. Throws an Error that names a file that pip would not read. */
export function withIndex(path: string, text = "", key: string, index: string, wanted: boolean): Edit {
  let now = text;
  const changes: string[] = [];
  const set = (name: string, value: string | undefined): void => {
    const file = parseIni(path, now, PIP);
    const old = settingOf(file, SECTION, name)?.value;
    if (old === value) return;
    now = withSetting(file, SECTION, name, value);
    if (old !== undefined) changes.push(`- ${shown(name, old)}`);
    if (value !== undefined) changes.push(`+ ${shown(name, value)}`);
  };
  const old = settingOf(parseIni(path, now, PIP), SECTION, key)?.value;
  const others = key === "index-url" ? [] : (old ?? "").split(/\s+/).filter((one) => one !== "" && one !== index);
  const isThere = (old ?? "").split(/\s+/).includes(index);
  if (wanted) {
    if (!isThere) set(key, listed([...others, index]));
    set(PROVIDER.key, PROVIDER.value);
  } else if (isThere) {
    set(key, others.length === 0 ? undefined : listed(others));
    if (settingOf(parseIni(path, now, PIP), SECTION, PROVIDER.key)?.value === PROVIDER.value)
      set(PROVIDER.key, undefined);
  }
  return { text: now, changes };
}

/** Several values stand on lines of their own. */
function listed(values: readonly string[]): string {
  return values.length > 1 ? values.map((value) => `\n    ${value}`).join("") : (values[0] ?? "");
}

/** A setting for people: a password in an address is not shown. */
function shown(key: string, value: string): string {
  return `[${SECTION}] ${key} = ${value
    .trim()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/(\/\/[^/@:\s]*):[^/@\s]*@/g, "$1:…@")}`;
}

function pipFile(): string {
  const { PIP_CONFIG_FILE: named, XDG_CONFIG_HOME: config } = process.env;
  if (named) return named;
  const ofMac = join(homedir(), "Library", "Application Support", "pip");
  if (platform() === "darwin" && existsSync(ofMac)) return join(ofMac, "pip.conf");
  return join(config || join(homedir(), ".config"), "pip", "pip.conf");
}
