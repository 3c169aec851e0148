// All commands, as data: what the list of commands shows, and where each is. Only the command that runs is loaded.
import type { Command } from "commander";
import { NOUNS } from "./gen/resources.ts";
import type { NounSpec, Section } from "./resources/spec.ts";

/** A command of the first level. */
export interface CommandSpec {
  readonly name: string;
  readonly section: Section;
  /** One line, in the list of commands. */
  readonly summary: string;
  readonly aliases?: readonly string[];
  /**
   * Loads its module. What it gives adds the command to the program, with all below it, or with what these words of the
   * command line may mean.
   */
  load(): Promise<(program: Command, words?: readonly string[]) => void>;
}

const OPERATIONS = "Operations of an installation";

const HAND_MADE: readonly CommandSpec[] = [
  {
    name: "search",
    section: "Registry",
    summary: "find repos, tags, digests and labels by words",
    load: async () => (await import("./tasks/search.ts")).addSearch,
  },
  {
    name: "eol",
    section: "Registry",
    summary: "tags whose product is past its end of life",
    load: async () => (await import("./tasks/eol.ts")).addEol,
  },
  {
    name: "apply",
    section: "Registry",
    summary: "make the server match resource files, with a diff first",
    load: async () => (await import("./apply/options.ts")).addApply,
  },
  {
    name: "import-from",
    section: "Registry",
    summary: "move another registry in, with a plan first",
    load: async () => (await import("./move-in/command.ts")).addImportFrom,
  },
  {
    name: "why",
    section: "Access",
    summary: "whether somebody may do something, and why",
    load: async () => (await import("./tasks/why.ts")).addWhy,
  },
  {
    name: "serve",
    section: OPERATIONS,
    summary: "start the server: registry, platform API and console on one port",
    load: async () => (await import("./serve.ts")).addServe,
  },
  {
    name: "doctor",
    section: OPERATIONS,
    summary: "look for what is wrong with a server, and say what to do",
    load: async () => (await import("./doctor/command.ts")).addDoctor,
  },
  {
    name: "hints",
    section: OPERATIONS,
    summary: "print what to try next with the server of a data folder",
    load: async () => (await import("./hints.ts")).addHints,
  },
  {
    name: "migrate",
    section: OPERATIONS,
    summary: "update the database's schema to this version",
    load: async () => (await import("./migrate.ts")).addMigrate,
  },
  {
    name: "backup",
    section: OPERATIONS,
    summary: "write a copy of a running server's data",
    load: async () => (await import("./backup.ts")).addBackup,
  },
  {
    name: "restore",
    section: OPERATIONS,
    summary: "make a data folder from a backup",
    load: async () => (await import("./restore.ts")).addRestore,
  },
  {
    name: "export",
    section: OPERATIONS,
    summary: "write an installation to a file that any engine can import",
    load: async () => (await import("./export.ts")).addExport,
  },
  {
    name: "import",
    section: OPERATIONS,
    summary: "load an export into an empty installation",
    load: async () => (await import("./import.ts")).addImport,
  },
  {
    name: "fsck",
    section: OPERATIONS,
    summary: "check the database and all content for damage",
    load: async () => (await import("./fsck.ts")).addFsck,
  },
  {
    name: "gc",
    section: OPERATIONS,
    summary: "remove the content that nothing needs, or show what would be removed",
    load: async () => (await import("./gc.ts")).addGc,
  },
  {
    name: "feeds",
    section: "Security",
    summary: "sources of vulnerability data of an installation",
    load: async () => (await import("./feeds.ts")).addFeeds,
  },
  {
    name: "sign-in-link",
    section: OPERATIONS,
    summary: "print a link that signs the owner in to the console",
    load: async () => (await import("./sign-in-link.ts")).addSignInLink,
  },
  {
    name: "owners",
    section: OPERATIONS,
    summary: "make an identity an owner of an organization whose owners are locked out",
    load: async () => (await import("./owners.ts")).addOwners,
  },
  {
    name: "sample",
    section: "Registry",
    summary: "make a small image to try things with, and push it",
    load: async () => (await import("./sample.ts")).addSample,
  },
  {
    name: "pull-token",
    section: "Access",
    summary: "passwords for clients that can only pull",
    load: async () => (await import("./password-commands.ts")).addPullToken,
  },
  {
    name: "push-token",
    section: "Access",
    summary: "passwords for clients that push to one repo",
    load: async () => (await import("./password-commands.ts")).addPushToken,
  },
  {
    name: "login",
    section: "This command",
    summary: "sign in to a server through your organization's provider",
    load: async () => (await import("./login.ts")).addLogin,
  },
  {
    name: "logout",
    section: "This command",
    summary: "end a sign-in",
    load: async () => (await import("./logout.ts")).addLogout,
  },
  {
    name: "whoami",
    section: "This command",
    summary: "show the identity that commands act as",
    load: async () => (await import("./whoami.ts")).addWhoami,
  },
  {
    name: "token",
    section: "This command",
    summary: "print an access token",
    load: async () => (await import("./token.ts")).addToken,
  },
  {
    name: "auth",
    section: "This command",
    summary: "have docker, pip, npm, the kubelet and others log in by themselves",
    load: async () => (await import("./auth/auth.ts")).addAuth,
  },
  {
    name: "config",
    section: "This command",
    summary: "contexts: named servers and how to use them",
    load: async () => (await import("./config/commands.ts")).addConfig,
  },
  {
    name: "completion",
    section: "This command",
    summary: "print the script by which a shell completes this command",
    load: async () => (await import("./completion/command.ts")).addCompletion,
  },
  {
    name: "api",
    section: "This command",
    summary: "send a request to any path of the server",
    load: async () => (await import("./raw/command.ts")).addApi,
  },
  {
    name: "mcp",
    section: "This command",
    summary: "serve a server's tools to an assistant on standard input and output",
    load: async () => (await import("./mcp.ts")).addMcp,
  },
  {
    name: "call",
    section: "This command",
    summary: "call a method of the API over gRPC",
    load: async () => (await import("./call.ts")).addCall,
  },
];

/** Every command of the first level: one for each noun of the API, and those made by hand. */
export const COMMANDS: readonly CommandSpec[] = [
  ...NOUNS.filter(({ name }) => !HAND_MADE.some((command) => command.name === name)).map(commandOfNoun),
  ...HAND_MADE,
];

/** The command of that name or alias. */
export function commandNamed(name: string | undefined): CommandSpec | undefined {
  return COMMANDS.find((command) => command.name === name || (name !== undefined && command.aliases?.includes(name)));
}

function commandOfNoun(noun: NounSpec): CommandSpec {
  const { name, section, summary, aliases } = noun;
  return {
    name,
    section,
    summary,
    ...(aliases && { aliases }),
    load: async () => (await import("./nouns.ts")).loadNoun(noun),
  };
}
