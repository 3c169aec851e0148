import { Failure } from "../command/failure.ts";

/** What ends the work of one item, and of no other. */
export class ItemFailure extends Failure {}
