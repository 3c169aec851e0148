// The page of all commands, which git does not have: the examples in docs/cli.
import { fileURLToPath } from "node:url";
import { cliPage } from "../../../scripts/cli-page.ts";
import { documentedProgram } from "../../../scripts/cli-tree.ts";
import { testDocument } from "./documents.ts";

testDocument(
  "cli.md",
  cliPage(await documentedProgram(), fileURLToPath(new URL("../../../docs/cli", import.meta.url))),
);
