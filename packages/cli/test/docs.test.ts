// All documents with commands except those that `npm test` runs (readme.test.ts).
import { testDocuments } from "./documents.ts";

testDocuments(["docs/!(tutorial).md", "docs/api/*.md"]);
