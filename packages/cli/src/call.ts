// `moorage call`: any method of the platform API over gRPC, with JSON in and out.
import type { Command } from "commander";
import type { ServerFlags } from "./connection.ts";

/** Adds `moorage call`. The token is MOORAGE_TOKEN, or else the owner's, signed from the data folder. */
export function addCall(program: Command): void {
  program
    .command("call")
    .description("call a method of the platform API over gRPC")
    .argument("<method>", "such as ReposService/ListRepos")
    .argument("[json]", "the request", "{}")
    .option("--url <url>", "URL of the server (default: what bootstrap.json in the data folder says)")
    .option("--data-dir <folder>", "data folder of the server (MOORAGE_DATA_DIR, default ./data)")
    .action(async (path: string, json: string, flags: ServerFlags) => {
      const { callMethod } = await import("./api-call.ts");
      await callMethod(path, json, flags);
    });
}
