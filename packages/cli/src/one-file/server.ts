// In the one file this stands for the server, of which it has nothing.
import { UsageFailure } from "../command/failure.ts";

throw new UsageFailure(
  "this command is for the machine of a server, and not in the file for clients: install the npm package of the release, or run it in the server's container",
);
