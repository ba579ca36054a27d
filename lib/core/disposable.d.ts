// TypeScript knows these from version 5.2 on, with its library `esnext.disposable`. Declared alike twice they are one,
// so that older versions and smaller libraries compile the declarations of this package, too.
interface SymbolConstructor {
  readonly dispose: unique symbol
  readonly asyncDispose: unique symbol
}
interface Disposable {
  [Symbol.dispose](): void
}
interface AsyncDisposable {
  [Symbol.asyncDispose](): PromiseLike<void>
}
