// Opens a library with all its symbols, and looks for the entry that the VM calls. script/full adds the functions of the VM.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **files) {
  void *library = dlopen(files[1], RTLD_NOW);
  if (!library || !dlsym(library, "nif_init")) {
    puts(dlerror());
    return 1;
  }
  puts("opened, with every symbol");
  return 0;
}
