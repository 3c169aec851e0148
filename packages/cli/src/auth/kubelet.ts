// `moorage auth configure-kubelet`: a node pulls as the service accounts of its pods, without a secret on it.
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { UsageFailure } from "../command/failure.ts";
import { addServerOptions, type ServerFlags } from "../command/global-options.ts";
import { loginOfRegistry } from "../credentials.ts";
import { namedServer } from "../sign-ins.ts";
import { rewrite } from "./file.ts";
import { type CacheType, configOf, type Provider, providerOf, withProvider } from "./kubelet-config.ts";
import { addFileOptions, addFolder, type FileFlags } from "./options.ts";
import { link } from "./programs.ts";
import { registriesOf, registryName } from "./targets.ts";

interface Flags extends FileFlags, Pick<ServerFlags, "context" | "url"> {
  binDir?: string;
  name: string;
  identity?: string;
  audience?: string;
  cacheType: CacheType;
  idTokenFile?: string;
  serviceAccounts: boolean;
}

const PROGRAM = "moorage-credential-kubelet";
const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;
// The configuration has no secret, and the kubelet is not always its owner.
const FILE_MODE = 0o644;

/** Adds the command. */
export function addKubelet(auth: Command): void {
  const command = auth
    .command("configure-kubelet")
    .description("have a node of Kubernetes pull as the service accounts of its pods")
    .argument("[registry]", "such as registry.example.com (default: the one of the server, or of the only sign-in)")
    .option("--name <name>", "of the entry, and of the program in the folder", PROGRAM)
    .option("--identity <uid>", "the identity to become, unless a service account names one by an annotation")
    .option("--audience <audience>", "of the service account tokens (default: the host of the server)")
    .addOption(
      new Option("--cache-type <type>", "what the kubelet keeps credentials by")
        .choices(["ServiceAccount", "Token"])
        .default("ServiceAccount"),
    )
    .option("--id-token-file <path>", "a token on the node, for pods without a service account")
    .option("--no-service-accounts", "only the node's own token: for Kubernetes before 1.34");
  addFileOptions(command, "the CredentialProviderConfig to change (default: a new one on standard output)");
  addFolder(command, "--bin-dir <folder>", `put a link to ${PROGRAM} there, where the kubelet looks for it`);
  addServerOptions(command, ["context", "url"]).action(configure);
}

async function configure(named: string | undefined, flags: Flags): Promise<void> {
  const { file, binDir, name, remove, dryRun = false } = flags;
  if (!/^[\w][\w.-]*$/.test(name)) throw new UsageFailure("must be the name of a file", { field: "--name" });
  if (remove === true) {
    if (file === undefined) throw new UsageFailure("is required with --remove", { field: "--file" });
    return rewrite(resolve(file), (text) => withProvider(resolve(file), text, name, undefined), { dryRun });
  }
  const provider = await providerFrom(named, flags);
  if (file === undefined) process.stdout.write(configOf(provider));
  else
    await rewrite(resolve(file), (text) => withProvider(resolve(file), text, name, provider), {
      dryRun,
      mode: FILE_MODE,
    });
  if (binDir !== undefined) link(PROGRAM, resolve(binDir), name, dryRun);
}

async function providerFrom(named: string | undefined, flags: Flags): Promise<Provider> {
  const { name, identity, audience, cacheType, idTokenFile, serviceAccounts } = flags;
  if (identity !== undefined && !UID.test(identity))
    throw new UsageFailure("must be the uid of an identity", { field: "--identity" });
  if (idTokenFile !== undefined && !idTokenFile.startsWith("/"))
    throw new UsageFailure("must be an absolute path, since the kubelet's folder is another one", {
      field: "--id-token-file",
    });
  if (!serviceAccounts && idTokenFile === undefined)
    throw new UsageFailure("is required with --no-service-accounts", { field: "--id-token-file" });
  const [registry = "", second] = named === undefined ? await registriesOf([], flags) : [registryName(named)];
  if (second !== undefined)
    throw new UsageFailure(`is required, since there are sign-ins to ${registry}, ${second}`, { field: "REGISTRY" });
  // The registry's own server, where it is known, goes before one that the environment names for all commands.
  const own = flags.url || flags.context ? undefined : loginOfRegistry(registry)?.url;
  const server = own ?? namedServer(flags) ?? `https://${registry}`;
  return providerOf({
    name,
    registry,
    url: server,
    ...(serviceAccounts && {
      // Rules of RBAC name the audience as a resource, in which a slash means something else.
      serviceAccounts: { audience: audience ?? new URL(server).host, cacheType },
    }),
    ...(identity !== undefined && { identity }),
    ...(idTokenFile !== undefined && { idTokenFile }),
  });
}
