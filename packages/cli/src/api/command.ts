// `moorage api`: any path of the server, with the caller's token.
import type { Command } from "commander";
import { addServerOptions, type ServerFlags } from "../command/global-options.ts";

/** Adds `moorage api`. */
export function addApi(program: Command): void {
  addServerOptions(
    program.command("api").description("send a request to any path of the server, with your token"),
  ).action(async (_flags: ServerFlags) => {});
}
