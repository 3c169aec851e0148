// `moorage sample`: a small multi-architecture image for experiments, as an OCI layout for any client, or pushed
// directly.
import { join } from "node:path";
import { InvalidArgumentError, type Command } from "commander";
import { originOf, platformToken } from "./caller.ts";
import { UsageFailure } from "./command/failure.ts";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";
import { accessTokenFor, loginOfRegistry } from "./credentials.ts";

const PASSWORD_MAX_CHARS = 65_536;

type Flags = ServerFlags & {
  layout?: string;
  push?: Target;
  build: number;
  user?: string;
  passwordStdin?: boolean;
};
type Target = { readonly url: string; readonly repository: string; readonly tag: string };

/** Parses `http://host:port/organization/image:tag`. Throws InvalidArgumentError when it is something else. */
export function parseTarget(text: string): Target {
  const [, url, repository, tag] =
    /^(https?:\/\/[^/]+)\/([a-z0-9._/-]+):([A-Za-z0-9_][A-Za-z0-9_.-]*)$/.exec(text) ?? [];
  if (url === undefined || repository === undefined || tag === undefined) {
    throw new InvalidArgumentError("it must look like http://127.0.0.1:8080/acme/hello:latest");
  }
  return { url, repository, tag };
}

function parseBuild(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError("it must be a whole number from 1");
  return Number(text);
}

/** A token for the registry of the target: the one that is named, of the sign-in to it, or of its data folder. */
async function tokenFor(target: Target, { url = target.url, ...flags }: ServerFlags): Promise<string> {
  const isNamed = flags.token ?? flags.dataDir ?? (process.env["MOORAGE_TOKEN"] || process.env["MOORAGE_DATA_DIR"]);
  const login = isNamed ? undefined : loginOfRegistry(new URL(target.url).host);
  if (login !== undefined) return accessTokenFor(login.url);
  return (await platformToken(await originOf({ url, ...flags }))).token;
}

/** The first line of standard input. Throws an Error when there is none. */
async function readPassword(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    if (text.length > PASSWORD_MAX_CHARS) throw new Error("the password is too long");
  }
  const [password = ""] = text.split(/\r?\n/, 1);
  if (password === "") throw new Error("there is no password on standard input");
  return password;
}

/** Adds `moorage sample`. */
export function addSample(program: Command): void {
  addServerOptions(
    program
      .command("sample")
      .description("make a small image for two architectures: as an OCI layout, or pushed to a registry")
      .option("--layout <folder>", "write builds 1 and 2 there as OCI layouts, in the folders build1 and build2")
      .option("--push <reference>", "push one build to http://host:port/organization/image:tag", parseTarget)
      .option("--build <number>", "which build to push; each has its own digest", parseBuild, 1)
      .option("--user <name>", "push as this user, with --password-stdin")
      .option("--password-stdin", "read the password from standard input, instead of using a token"),
  ).action(async ({ layout, push, build, user, passwordStdin = false, ...server }: Flags) => {
    if (passwordStdin !== (user !== undefined)) throw new UsageFailure("--user and --password-stdin go together");
    if (layout === undefined && push === undefined)
      throw new UsageFailure("say where the image goes: --layout <folder> or --push <reference>");
    const { buildSampleImage } = await import("./oci/image.ts");
    if (layout !== undefined) {
      const { writeLayout } = await import("./oci/layout.ts");
      for (const number of [1, 2]) await writeLayout(join(layout, `build${number}`), await buildSampleImage(number));
      console.log(layout);
    }
    if (push !== undefined) {
      const { openRegistry } = await import("./oci/registry.ts");
      const credential =
        user === undefined ? { password: await tokenFor(push, server) } : { user, password: await readPassword() };
      const digest = await openRegistry({ url: push.url, ...credential }).pushImage(
        push.repository,
        push.tag,
        await buildSampleImage(build),
      );
      console.log(`${new URL(push.url).host}/${push.repository}@${digest}`);
    }
  });
}
