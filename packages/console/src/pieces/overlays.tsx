import { useState } from "react";
import { ApiError } from "../api/errors.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { TextField } from "../ui/field.tsx";
import { Menu } from "../ui/menu.tsx";
import { Note } from "../ui/note.tsx";
import { Piece } from "./piece.tsx";

const nothing = (): void => {
  // The pieces do nothing here.
};
const FAILED = new ApiError(500, { code: "INTERNAL", message: "The server could not answer." });

/** What lies over a page, and what it says about itself. */
export function OverlayPieces() {
  const [open, setOpen] = useState<"dialog" | "drawer" | "confirm">();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Piece name="Notes">
        <Note>A remark.</Note>
        <Note look="warning">Something to know.</Note>
        <Note look="success">It is done.</Note>
        <Note look="danger">Everybody can see it.</Note>
        <ErrorNote error={FAILED} />
      </Piece>
      <Piece name="Dialogs">
        <Button onClick={() => setOpen("dialog")}>Dialog</Button>
        <Button onClick={() => setOpen("drawer")}>Drawer</Button>
        <Button look="danger" onClick={() => setOpen("confirm")}>
          Ask first
        </Button>
        <Menu
          label="Actions"
          items={[
            { label: "Open", onSelect: nothing, isChosen: true },
            { label: "Not possible", onSelect: nothing, disabledReason: "You need a role that may do it" },
            { label: "Delete", onSelect: nothing, isDanger: true },
          ]}
        />
      </Piece>
      {(open === "dialog" || open === "drawer") && (
        <Dialog
          isOpen
          isDrawer={open === "drawer"}
          onClose={close}
          title="New image"
          description="A push creates it as well."
          actions={<Button onClick={close}>Cancel</Button>}
        >
          <TextField label="Name" />
        </Dialog>
      )}
      <Confirm
        isOpen={open === "confirm"}
        onClose={close}
        title="Delete 2 tags?"
        description="Their histories stay."
        action="Delete"
        onConfirm={async () => {
          throw FAILED;
        }}
      />
    </>
  );
}
