// `moorage mcp`: MCP on standard input and output, for assistants that start their servers as programs.
import type { Command } from "commander";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";

/** Adds `moorage mcp`. */
export function addMcp(program: Command): void {
  addServerOptions(
    program
      .command("mcp")
      .description("serve the tools of a server to an assistant on standard input and output (MCP)")
      .option("--write", "offer the tools that change something as well"),
  ).action(async (flags: ServerFlags & { write?: boolean }) => {
    const { serveBridge } = await import("./mcp-bridge.ts");
    await serveBridge(flags);
  });
}
