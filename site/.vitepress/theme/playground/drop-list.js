/** Gives the element a list to check, as if a visitor had dropped it. */
export function dropList(element, list) {
  const dataTransfer = new DataTransfer()
  dataTransfer.setData('text/plain', list)
  element?.dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }))
}
