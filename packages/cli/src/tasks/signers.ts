// What `moorage signers` has besides the methods of the API.
import { completes } from "../command/completion-sources.ts";
import { UsageFailure } from "../command/failure.ts";
import type { Extended, Extra } from "../resources/extension.ts";
import { textOf } from "../resources/files.ts";
import { repeatable } from "./options.ts";
import type { Tasks } from "./tasks.ts";

/** `--key`: the signer's public keys, as files. */
export const SIGNER_TASKS: Tasks = {
  names: [],
  add() {},
  extend: {
    create: {
      example: "moorage signers create acme/release --key cosign.pub",
      addOptions: (command) =>
        void command.addOption(
          completes(
            repeatable("--key <file>", "a public key in PEM, such as cosign.pub; - is standard input (repeatable)"),
            "file",
          ),
        ),
      begin: keysOf,
    },
  },
};

async function keysOf({ flags, fieldFlags }: Extended): Promise<Extra | undefined> {
  const files = flags["key"] as readonly string[] | undefined;
  if (files === undefined || files.length === 0) return undefined;
  if (fieldFlags.includes("--keys")) throw new UsageFailure("and --key exclude each other", { field: "--keys" });
  if (flags["file"] !== undefined) throw new UsageFailure("and --key exclude each other", { field: "--file" });
  const keys: { pem: string }[] = [];
  for (const file of files) keys.push({ pem: await textOf(file) });
  return { resource: { keys } };
}
