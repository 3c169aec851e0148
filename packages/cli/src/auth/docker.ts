// `moorage auth configure-docker`, `configure-podman` and `configure-helm`: which helper answers for a registry. The
// files of all three have the same form. Sources: docker's CLI, "Credential helpers"; containers-auth.json(5); helm,
// HELM_REGISTRY_CONFIG.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { addServerOptions, type ServerFlags } from "../command/global-options.ts";
import { broken, type Edit, rewrite } from "./file.ts";
import { isObject, jsonObject, withValue } from "./json.ts";
import { addFileOptions, type FileFlags } from "./options.ts";
import { isFound } from "./programs.ts";
import { registriesOf, warnOfMissing } from "./targets.ts";

type Flags = FileFlags & Pick<ServerFlags, "context" | "url">;
type Env = Readonly<Record<string, string | undefined>>;

/** The name by which clients know docker-credential-moorage. */
const HELPER = "moorage";
const FIELD = "credHelpers";

/** A client, and its file. */
interface Client {
  name: string;
  summary: string;
  file(env: Env, config: string): string;
}

const CLIENTS: readonly Client[] = [
  {
    name: "docker",
    summary: "have docker log in by itself, and oras, crane, skopeo and others that read docker's file",
    file: (env) => join(env["DOCKER_CONFIG"] || join(homedir(), ".docker"), "config.json"),
  },
  {
    name: "podman",
    summary: "have podman, buildah and skopeo log in by themselves",
    // Not the file in XDG_RUNTIME_DIR, which is gone after the next start of the machine.
    file: (env, config) => env["REGISTRY_AUTH_FILE"] || join(config, "containers", "auth.json"),
  },
  {
    name: "helm",
    summary: "have helm log in by itself (it also reads docker's file, after its own)",
    file: (env, config) => env["HELM_REGISTRY_CONFIG"] || join(config, "helm", "registry", "config.json"),
  },
];

/** Adds the three commands. */
export function addDocker(auth: Command): void {
  for (const client of CLIENTS) {
    const command = auth
      .command(`configure-${client.name}`)
      .description(client.summary)
      .argument("[registry...]", "such as registry.example.com (default: those that you are signed in to)");
    addFileOptions(command, `the file to change (default: that of ${client.name})`);
    addServerOptions(command, ["context", "url"]).action((registries: string[], flags: Flags) =>
      configure(client, registries, flags),
    );
  }
}

async function configure(client: Client, named: string[], { file, remove, dryRun, ...server }: Flags): Promise<void> {
  const registries = await registriesOf(named, server);
  const config = process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
  const path = resolve(file ?? client.file(process.env, config));
  await rewrite(path, (text) => withHelper(path, text, registries, remove !== true), { dryRun: dryRun === true });
  if (remove === true) return;
  warnOfMissing(registries);
  if (!isFound("docker-credential-moorage"))
    console.error(`moorage: ${client.name} finds no docker-credential-moorage of this version: put it on the PATH`);
}

/** The file's text with or without the helper for these registries. Throws an Error that names a damaged file. */
function withHelper(path: string, text: string | undefined, registries: readonly string[], wanted: boolean): Edit {
  if (text === undefined && !wanted) return { text: "", changes: [] };
  // An empty file is what `touch` leaves, and docker reads it as no settings.
  let now = text === undefined || text.trim() === "" ? "{}\n" : text;
  const changes: string[] = [];
  for (const registry of registries) {
    const helpers = helpersOf(path, now);
    const old = Object.hasOwn(helpers, registry) ? helpers[registry] : undefined;
    if (wanted && old !== HELPER) {
      now = withValue(path, now, [FIELD, registry], HELPER);
      if (old !== undefined) changes.push(`- ${shown(registry, old)}`);
      changes.push(`+ ${shown(registry, HELPER)}`);
    } else if (!wanted && old === HELPER) {
      const isOnly = Object.keys(helpers).length === 1;
      now = withValue(path, now, isOnly ? [FIELD] : [FIELD, registry], undefined);
      changes.push(`- ${shown(registry, old)}`);
    }
  }
  return { text: now, changes };
}

function helpersOf(path: string, text: string): Record<string, unknown> {
  const helpers = jsonObject(path, text)[FIELD] ?? {};
  if (!isObject(helpers)) throw broken(path, `${FIELD} is no object`);
  return helpers;
}

function shown(registry: string, helper: unknown): string {
  return `${FIELD}: ${JSON.stringify(registry)}: ${JSON.stringify(helper)}`;
}
