// The documents of the API.
import { testDocuments } from "./documents.ts";

testDocuments(["docs/api/*.md"]);
