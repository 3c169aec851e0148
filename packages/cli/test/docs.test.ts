// All documents with commands except those that `npm test` runs (readme.test.ts).
import { fileURLToPath } from "node:url";
import { cliPage } from "../../../scripts/cli-page.ts";
import { documentedProgram } from "../../../scripts/cli-tree.ts";
import { testDocument, testDocuments } from "./documents.ts";

testDocuments(["docs/!(tutorial).md", "docs/api/*.md"]);
// The page of all commands, which git does not have: the examples in docs/cli.
testDocument(
  "cli.md",
  cliPage(await documentedProgram(), fileURLToPath(new URL("../../../docs/cli", import.meta.url))),
);
